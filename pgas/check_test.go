package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// stale is a use of a reference or pointer to an allocation that was freed.
type stale struct {
	name string
	use  func()
}

// staleUses frees one allocation of each kind and allocates the same again, so that a stale access would hit a
// live allocation. The uses have pe as their target.
func staleUses(ctx context.Context, w *pgas.World, pe int) ([]stale, error) {
	words, err1 := pgas.Alloc[int64](ctx, w, 8)
	floats, err2 := pgas.Alloc[float64](ctx, w, 8)
	signals, err3 := pgas.Alloc[pgas.Signal](ctx, w, 8)
	locks, err4 := pgas.Alloc[pgas.Lock](ctx, w, 1)
	live, err5 := pgas.Alloc[int64](ctx, w, 8)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	ref, row, word := words.At(1), words.Range(2, 6), pgas.AtomicOf(words, 7)
	float, sig, lock := pgas.AtomicFloatOf(floats, 0), pgas.SignalOf(signals, 0), pgas.LockOf(locks, 0)
	set := pgas.AtomicsOf(row).Until(pgas.EQ, 0)
	team, buf, v, f := w.Team(), make([]int64, 4), int64(0), 0.0
	err := errors.Join(words.Free(ctx), floats.Free(ctx), signals.Free(ctx), locks.Free(ctx))
	_, err1 = pgas.Alloc[int64](ctx, w, 8)
	_, err2 = pgas.Alloc[float64](ctx, w, 8)
	return []stale{
		{"put", func() { ref.Put(pe, 1) }},
		{"get", func() { ref.Get(pe) }},
		{"put NB", func() { ref.PutNB(pe, &v) }},
		{"get NB", func() { ref.GetNB(pe, &v) }},
		{"put with signal", func() { ref.PutSignal(pe, &v, sig, 1) }},
		{"put with a signal that was freed", func() { live.At(0).PutSignal(pe, &v, sig, 1) }},
		{"local element", func() { *ref.Local() = 1 }},
		{"pointer to an element", func() { ref.Ptr(pe) }},
		{"put notify", func() { ref.PutNotify(pe, &v, 1) }},
		{"get notify", func() { ref.GetNotify(pe, 1) }},
		{"put of a range", func() { row.Put(pe, buf) }},
		{"put NB of a range", func() { row.PutNB(pe, buf) }},
		{"get of a range", func() { row.Get(pe, buf) }},
		{"get NB of a range", func() { row.GetNB(pe, buf) }},
		{"put of a range with signal", func() { row.PutSignalAdd(pe, buf, sig, 1) }},
		{"put notify of a range", func() { row.PutNotify(pe, buf, 1) }},
		{"put notify NB of a range", func() { row.PutNotifyNB(pe, buf, 1) }},
		{"get notify of a range", func() { row.GetNotify(pe, buf, 1) }},
		{"get notify NB of a range", func() { row.GetNotifyNB(pe, buf, 1) }},
		{"strided put", func() { row.IPut(pe, buf, 2, 1, 2) }},
		{"strided get", func() { row.IGet(pe, buf, 1, 2, 2) }},
		{"strided get NB", func() { row.IGetNB(pe, buf, 1, 2, 2) }},
		{"local range", func() { row.Local()[0] = 1 }},
		{"part of a range", func() { row.Range(1, 2).At(0).Put(pe, 1) }},
		{"pointer to a range", func() { row.Ptr(pe) }},
		{"fetch", func() { word.Fetch(pe) }},
		{"set", func() { word.Set(pe, 1) }},
		{"fetch-add", func() { word.FetchAdd(pe, 1) }},
		{"compare-swap", func() { word.CompareSwap(pe, 0, 1) }},
		{"min", func() { word.Min(pe, 1) }},
		{"fetch NB", func() { word.FetchNB(pe, &v) }},
		{"fetch-add and note", func() { word.Notify(1).FetchAdd(pe, 1) }},
		{"add and note", func() { word.Notify(1).Add(pe, 1) }},
		{"float add", func() { float.Add(pe, 1) }},
		{"float fetch", func() { float.Fetch(pe) }},
		{"float fetch NB", func() { float.FetchNB(pe, &f) }},
		{"float test", func() { float.Test(pgas.EQ, 0) }},
		{"signal set", func() { sig.Set(pe, 1) }},
		{"signal fetch", func() { sig.Fetch() }},
		{"wait", func() { word.WaitUntil(ctx, pgas.EQ, 0) }},
		{"test", func() { word.Test(pgas.EQ, 0) }},
		{"new set", func() { pgas.AtomicsOf(row).Until(pgas.EQ, 0) }},
		{"test all", func() { set.TestAll() }},
		{"test any", func() { set.TestAny() }},
		{"test some", func() { set.TestSome(nil) }},
		{"wait for all", func() { set.WaitAll(ctx) }},
		{"wait for any", func() { set.WaitAny(ctx) }},
		{"wait for some", func() { set.WaitSome(ctx, nil) }},
		{"arrivals", func() {
			for range set.Arrivals(ctx) {
			}
		}},
		{"lock", func() { lock.Lock(ctx) }},
		{"trylock", func() { lock.TryLock() }},
		{"unlock", func() { lock.Unlock() }},
		{"broadcast", func() { pgas.Broadcast(ctx, team, row, row, 0) }},
		{"collect", func() { pgas.FCollect(ctx, team, live.Range(0, 4), row.Range(0, 1)) }},
		{"reduction", func() { pgas.SumReduce(ctx, team, live.Range(0, 4), row) }},
		{"scan", func() { pgas.SumInscan(ctx, team, row, live.Range(0, 4)) }},
	}, errors.Join(err, err1, err2)
}

// misuseIn returns the *UsageError that f panics with, or nil.
func misuseIn(w *pgas.World, f func()) (misuse *pgas.UsageError) {
	defer func() {
		if p := recover(); p != nil {
			errors.As(w.Recovered(p), &misuse)
		}
	}()
	f()
	return nil
}

// TestFreedReferencesPanic: every operation on a reference to freed memory panics, although another allocation
// has taken its place, and leaves that one untouched.
//
//ci:ucx=nic
func TestFreedReferencesPanic(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	body := func(ctx context.Context, w *pgas.World) error {
		uses, err := staleUses(ctx, w, (w.PE()+1)%w.NPEs())
		if err != nil {
			return err
		}
		for _, s := range uses {
			misuse := misuseIn(w, s.use)
			if misuse == nil {
				return fmt.Errorf("%s: no *UsageError for memory that was freed", s.name)
			}
			if m := misuse.Error(); !strings.Contains(m, "was freed") || strings.Count(m, "check_test.go:") != 3 {
				return fmt.Errorf("%s: the message does not say that the memory was freed, and where it was used, allocated and freed: %s", s.name, m)
			}
		}
		return nil
	}
	pgastest.RunAll(t, 2, body)
	pgastest.RunNIC(t, 2, body)
}

// TestFreedPointersFault: an access through a pointer from Local or Ptr faults after Free, and the panic says so.
func TestFreedPointersFault(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		before, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		s, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		own, other := s.Local(), s.Ptr((w.PE()+1)%w.NPEs())
		own[99] = 1
		if err := s.Free(ctx); err != nil {
			return err
		}
		again, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		faults := func(name string, use func()) error {
			if m := misuseIn(w, use); m == nil || !strings.Contains(m.Error(), "was freed: 100 int64") {
				return fmt.Errorf("%s through a pointer to freed memory: %v", name, m)
			}
			return nil
		}
		err = errors.Join(
			faults("store", func() { own[99] = 2 }),
			faults("load", func() { own[0]++ }),
			faults("copy", func() { copy(own, before.Local()) }),
			w.Barrier(ctx), // to the race detector the next is an access to what another PE has used above
			faults("store to another PE's memory", func() {
				if other == nil { // on another host
					_ = s.Local()
				}
				other[7] = 2
			}))
		if err != nil {
			return err
		}
		for i, v := range append(before.Local(), again.Local()...) {
			if v != 0 {
				return fmt.Errorf("word %d of what lives is %d", i, v)
			}
		}
		return w.Barrier(ctx)
	})
}

// TestGenerationsOutliveTheHeap: a stale reference is detected even if its memory had to be used again.
func TestGenerationsOutliveTheHeap(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		const third = 15 << 20
		first, err := pgas.AllocRaw[byte](ctx, w, third)
		if err != nil {
			return err
		}
		ref := first.At(0)
		if err := first.Free(ctx); err != nil {
			return err
		}
		for range 4 {
			s, err := pgas.AllocRaw[byte](ctx, w, third)
			if err != nil {
				return fmt.Errorf("freed memory is not used again: %w", err)
			}
			if misuseIn(w, func() { ref.Put(0, 1) }) == nil {
				return errors.New("a put through a reference to freed memory is not told")
			}
			if err := s.Free(ctx); err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
}

// TestGuardedHeapIsWhole: freed blocks do not reduce how much a guarded heap can allocate.
func TestGuardedHeapIsWhole(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		for range 3 {
			var all []pgas.Sym[byte]
			for range 40 {
				s, err := pgas.Alloc[byte](ctx, w, 1<<20)
				if err != nil {
					return err
				}
				s.Local()[1<<20-1] = 1
				all = append(all, s)
			}
			for i := range all {
				if err := all[i*7%40].Free(ctx); err != nil {
					return err
				}
			}
		}
		s, err := pgas.Alloc[byte](ctx, w, 40<<20)
		if err != nil {
			return err
		}
		for i, b := range s.Local() {
			if b != 0 {
				return fmt.Errorf("byte %d is not zero", i)
			}
		}
		return nil
	})
}

// staleMain is a program that uses freed memory, by a reference or by a pointer.
const staleMain = `package main

import (
	"context"
	"os"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		ref, local := s.At(0), s.Local()
		if err := s.Free(ctx); err != nil {
			return err
		}
		if _, err := pgas.Alloc[int64](ctx, w, 4); err != nil {
			return err
		}
		if os.Args[1] == "ref" {
			ref.Put(0, 1)
		} else {
			local[0] = 1
		}
		return nil
	})
}
`

// TestCheckedProgram: the variable alone turns checking on in any program, which then reports its mistake and
// the place in one line.
func TestCheckedProgram(t *testing.T) {
	dir, bin := t.TempDir(), filepath.Join(t.TempDir(), "stale")
	main := filepath.Join(dir, "stale", "main.go")
	if err := os.Mkdir(filepath.Dir(main), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(main, []byte(staleMain), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", bin, main).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for how, want := range map[string]string{
		"ref":   "Put at stale/main.go:24: this memory was freed: 4 int64 at offset 16777216, allocated at stale/main.go:12, freed at stale/main.go:17\n",
		"local": "access through Local or Ptr at stale/main.go:26: the pointer leads to offset 16777216 of the heap of PE 0, which was freed: 4 int64 at offset 16777216, allocated at stale/main.go:12, freed at stale/main.go:17\n",
	} {
		cmd := exec.Command(bin, how)
		cmd.Env = append(os.Environ(), "PGAS_QUIET_SINGLETON=1", "PGAS_CHECK=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasSuffix(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, printed\n%swant a line that ends in\n%s", how, err, out, want)
		}
	}
}
