//go:build race && (amd64 || arm64)

package strands_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/strands"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// kinds issues one operation of each kind on c to pe, and completes them. The PEs access elements of their own.
func kinds(ctx context.Context, w *pgas.World, c *pgas.Context, mem pgas.Slice[int64], pe int) error {
	mine := mem.Range(16*w.PE(), 16*w.PE()+16).On(c)
	word := pgas.AtomicsOf(mine).At(8)
	var old, got int64
	mine.At(0).Put(pe, 1)
	mine.Range(1, 3).PutNB(pe, []int64{2, 3})
	word.Add(pe, 1)
	c.Fence()
	word.FetchAddNB(pe, 1, &old)
	mine.At(1).GetNB(pe, &got)
	if err := c.Quiet(ctx); err != nil {
		return err
	}
	if v := mine.At(0).Get(pe); v != 1 || got != 2 {
		return fmt.Errorf("PE %d got %d and %d of PE %d, want 1 and 2", w.PE(), v, got, pe)
	}
	return nil
}

// all issues operations of each kind on several contexts to all PEs, and leaves the contexts open.
func all(contexts int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 16*w.NPEs())
		if err != nil {
			return err
		}
		for range contexts {
			c, err := w.NewContext()
			if err != nil {
				return err
			}
			for pe := range w.NPEs() {
				if err := kinds(ctx, w, c, s.All(), pe); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// awaitThreads returns when the strands of this process have at most n threads.
func awaitThreads(t *testing.T, n int) {
	t.Helper()
	for start := time.Now(); strands.Threads() > n; runtime.GC() {
		if time.Since(start) > hang.Limit {
			t.Fatalf("strands have %d threads, want %d", strands.Threads(), n)
		}
	}
}

// TestFreedBuffers: an operation that reads or fills freed memory is the misuse of its PE.
func TestFreedBuffers(t *testing.T) {
	type memory struct {
		pgas.Slice[int64]
		sig   pgas.SignalRef
		words pgas.AtomicSlice[int64]
	}
	for name, use := range map[string]func(mem memory, freed []int64){
		"Put":             func(mem memory, freed []int64) { mem.Put(0, freed) },
		"PutNB":           func(mem memory, freed []int64) { mem.PutNB(0, freed) },
		"Ref.PutNB":       func(mem memory, freed []int64) { mem.At(0).PutNB(0, &freed[0]) },
		"IPut":            func(mem memory, freed []int64) { mem.IPut(0, freed, 1, 2, 2) },
		"IPutNB":          func(mem memory, freed []int64) { mem.IPutNB(0, freed, 1, 2, 2) },
		"IBPutNB":         func(mem memory, freed []int64) { mem.IBPutNB(0, freed, 2, 2, 1, 2) },
		"PutSignal":       func(mem memory, freed []int64) { mem.PutSignal(0, freed, mem.sig, 1) },
		"PutSignalNB":     func(mem memory, freed []int64) { mem.PutSignalNB(0, freed, mem.sig, 1) },
		"PutSignalAddNB":  func(mem memory, freed []int64) { mem.PutSignalAddNB(0, freed, mem.sig, 1) },
		"PutNotify":       func(mem memory, freed []int64) { mem.PutNotify(0, freed, 1) },
		"PutNotifyNB":     func(mem memory, freed []int64) { mem.PutNotifyNB(0, freed, 1) },
		"Get":             func(mem memory, freed []int64) { mem.Get(0, freed) },
		"GetNB":           func(mem memory, freed []int64) { mem.GetNB(0, freed) },
		"Ref.GetNB":       func(mem memory, freed []int64) { mem.At(0).GetNB(0, &freed[0]) },
		"IGet":            func(mem memory, freed []int64) { mem.IGet(0, freed, 1, 2, 2) },
		"IGetNB":          func(mem memory, freed []int64) { mem.IGetNB(0, freed, 1, 2, 2) },
		"IBGetNB":         func(mem memory, freed []int64) { mem.IBGetNB(0, freed, 2, 2, 1, 2) },
		"GetNotify":       func(mem memory, freed []int64) { mem.GetNotify(0, freed, 1) },
		"GetNotifyNB":     func(mem memory, freed []int64) { mem.GetNotifyNB(0, freed, 1) },
		"FetchNB":         func(mem memory, freed []int64) { mem.words.At(0).FetchNB(0, &freed[0]) },
		"FetchAddNB":      func(mem memory, freed []int64) { mem.words.At(0).FetchAddNB(0, 1, &freed[0]) },
		"CompareSwapNB":   func(mem memory, freed []int64) { mem.words.At(0).CompareSwapNB(0, 0, 1, &freed[0]) },
		"FetchNB of many": func(mem memory, freed []int64) { mem.words.FetchNB(0, freed) },
	} {
		t.Run(name, func(t *testing.T) {
			err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
				mem, err1 := pgas.Alloc[int64](ctx, w, 4)
				old, err2 := pgas.Alloc[int64](ctx, w, 4)
				signals, err3 := pgas.Alloc[pgas.Signal](ctx, w, 1)
				freed := old.Local()
				if err := errors.Join(err1, err2, err3, old.Free(ctx)); err != nil {
					return err
				}
				use(memory{mem.All(), pgas.SignalOf(signals, 0), pgas.AtomicsOf(mem.All())}, freed)
				return nil
			})
			var misuse *pgas.UsageError
			if !errors.As(err, &misuse) || !strings.Contains(misuse.Msg, "which was freed") {
				t.Errorf("%v, want a UsageError about freed memory", err)
			}
		})
	}
}

// TestEnd: strands end with their World, however it ends.
func TestEnd(t *testing.T) {
	failed := errors.New("failed")
	for name, end := range map[string]func(*pgas.World) error{
		"closed":    func(*pgas.World) error { return nil },
		"abandoned": func(*pgas.World) error { return failed },
		"panic":     func(*pgas.World) error { panic(failed) },
		"misuse":    func(w *pgas.World) error { w.Context().FencePE(-1); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			before := strands.Threads()
			err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				if err := all(2)(ctx, w); err != nil {
					return err
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				return end(w)
			})
			if (err == nil) != (name == "closed") {
				t.Fatal(err)
			}
			awaitThreads(t, before)
		})
	}
}

// TestManyWorlds: a process may have as many Worlds as it likes, one after the other.
func TestManyWorlds(t *testing.T) {
	before, n := strands.Threads(), 1000
	if testing.Short() {
		n = 100
	}
	for range n {
		if err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, all(1)); err != nil {
			t.Fatal(err)
		}
	}
	awaitThreads(t, before)
}

// TestManyContexts: more contexts than the detector has room for get no strands. On one processor, too.
func TestManyContexts(t *testing.T) {
	for _, procs := range []int{runtime.GOMAXPROCS(0), 1} {
		t.Run(fmt.Sprintf("%d processors", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			most := make([]int, 16)
			err := pgastest.Goroutines(t.Context(), len(most), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				err := all(64)(ctx, w)
				most[w.PE()] = strands.Threads() + runtime.NumGoroutine()
				return errors.Join(err, w.Barrier(ctx))
			})
			if err != nil {
				t.Fatal(err)
			}
			for pe, n := range most {
				if n > 5000 {
					t.Errorf("PE %d: %d goroutines and strands", pe, n)
				}
			}
		})
	}
}

// TestQuietOfAnotherGoroutine: a get comes after the put to the same bytes, although another goroutine has called Quiet
// in between, and nothing that the detector sees orders that call.
func TestQuietOfAnotherGoroutine(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		begin, end := make(chan struct{}), make(chan error)
		go func() {
			runtime.RaceDisable()
			<-begin
			runtime.RaceEnable()
			err := w.Quiet(ctx)
			runtime.RaceDisable()
			end <- err
			runtime.RaceEnable()
		}()
		mine := s.At(w.PE())
		mine.Put(1-w.PE(), 1)
		runtime.RaceDisable()
		begin <- struct{}{}
		err = <-end
		runtime.RaceEnable()
		if v := mine.Get(1 - w.PE()); v != 1 {
			return fmt.Errorf("got %d, want 1", v)
		}
		return err
	})
}
