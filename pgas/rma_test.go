package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// onEvery runs body on PEs of every kind, in the simulator, and once more where no access takes the fast
// path.
func onEvery(t *testing.T, npes int, body pgastest.Body) {
	t.Helper()
	onReal(t, npes, body)
	pgastest.RunSim(t, npes, body)
}

// onReal is onEvery without the simulator: for bodies that start goroutines, that compute until something
// has come, or that look for the memory of others.
func onReal(t *testing.T, npes int, body pgastest.Body) {
	t.Helper()
	pgastest.Run(t, npes, body)
	t.Run("slow path", func(t *testing.T) {
		t.Helper()
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		if err := pgastest.Goroutines(ctx, npes, pgastest.Options{NoFastPath: true}, body); err != nil {
			t.Fatal(err)
		}
	})
}

type record struct {
	A int64
	B [3]float32
	C bool
}

func TestPutGet(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		if err := putGet(ctx, w, func(i int) int64 { return int64(i) * -3 }); err != nil {
			return err
		}
		if err := putGet(ctx, w, func(i int) uint8 { return uint8(i * 5) }); err != nil {
			return err
		}
		return putGet(ctx, w, func(i int) record { return record{int64(i), [3]float32{float32(i), 1, 2}, i%2 == 0} })
	})
}

// putGet moves ranges of several sizes to the next PE and reads them back from the one after.
func putGet[T comparable](ctx context.Context, w *pgas.World, value func(int) T) error {
	const most = 40_000
	s, err := pgas.Alloc[T](ctx, w, most+2)
	if err != nil {
		return err
	}
	me, n := w.PE(), w.NPEs()
	next := (me + 1) % n
	for round, size := range []int{0, 1, 2, 7, 511, 4096, most} {
		src := make([]T, size)
		for i := range src {
			src[i] = value(i + me + round)
		}
		s.Range(1, most+1).Put(next, src)
		for i := range src {
			src[i] = value(-1) // the source may be reused at once
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		// My own memory now holds the previous PE's data, the next one's mine.
		for _, look := range []struct{ at, from int }{{me, (me + n - 1) % n}, {next, me}} {
			got, late := make([]T, size), make([]T, size)
			s.Range(1, most+1).Get(look.at, got)
			s.Range(1, most+1).GetNB(look.at, late)
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			for i := range got {
				if want := value(i + look.from + round); got[i] != want || late[i] != want {
					return fmt.Errorf("element %d of %d of %T on PE %d is %v (%v non-blocking), want %v", i, size, want, look.at, got[i], late[i], want)
				}
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	one := s.At(0)
	one.Put(next, value(me))
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	var late T
	one.GetNB(next, &late)
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	if got := one.Get(next); got != value(me) || late != got || *one.Local() != value((me+n-1)%n) {
		return fmt.Errorf("single element: %v, %v, local %v", got, late, *one.Local())
	}
	var zero T
	if end := s.Local()[most+1]; end != zero {
		return fmt.Errorf("a put of %d elements wrote one more: %v", most, end)
	}
	return s.Free(ctx)
}

func TestPutSignal(t *testing.T) {
	onEvery(t, 2, signalsCarryData)
}

func signalsCarryData(ctx context.Context, w *pgas.World) error {
	const most = 30_000
	data, err := pgas.Alloc[uint32](ctx, w, most)
	if err != nil {
		return err
	}
	sigs, err := pgas.Alloc[pgas.Signal](ctx, w, 2)
	if err != nil {
		return err
	}
	other := 1 - w.PE()
	set, sum := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	for round, size := range []int{1, 3, 1000, most, 0, 2} {
		src := make([]uint32, size)
		for i := range src {
			src[i] = uint32(i*31 + round)
		}
		data.All().PutSignal(other, src, set, uint64(round+1))
		if _, err := set.WaitUntil(ctx, pgas.GE, uint64(round+1)); err != nil {
			return err
		}
		if got := data.Local()[:size]; !slices.Equal(got, src) {
			return fmt.Errorf("round %d: the signal came before its data", round)
		}
		// Nobody may overwrite what the other still looks at.
		data.Range(0, 0).PutSignalAdd(other, nil, sum, 1)
		if _, err := sum.WaitUntil(ctx, pgas.GE, uint64(round+1)); err != nil {
			return err
		}
	}
	v := uint32(77)
	data.At(5).PutSignalAdd(other, &v, sum, 10)
	if _, err := sum.WaitUntil(ctx, pgas.GT, 10); err != nil {
		return err
	}
	if got := data.Local()[5]; got != 77 || !set.Test(pgas.EQ, 6) || set.Fetch() != 6 {
		return fmt.Errorf("element is %d, signal %d", got, set.Fetch())
	}
	return nil
}

// TestMisuse: each misuse panics with *UsageError that says what would be right.
func TestMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int32](ctx, w, 4)
		if err != nil {
			return err
		}
		freed, err := pgas.Alloc[int32](ctx, w, 4)
		if err != nil {
			return err
		}
		if err := freed.Free(ctx); err != nil {
			return err
		}
		c, err := w.NewContext(pgas.Private())
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		var never pgas.Sym[int32]
		for name, misuse := range map[string]func(){
			"PE too large":           func() { s.At(0).Put(2, 1) },
			"PE negative":            func() { s.At(0).Get(-1) },
			"PE of an atomic":        func() { pgas.AtomicOf(s, 0).Add(7, 1) },
			"PE of a slice":          func() { s.All().Get(9, make([]int32, 1)) },
			"PE of QuietPE":          func() { w.Context().QuietPE(ctx, 5) },
			"PE of HostOf":           func() { w.HostOf(2) },
			"PE of ConnectionTo":     func() { w.ConnectionTo(2) },
			"index too large":        func() { s.At(4) },
			"index negative":         func() { s.At(-1) },
			"range reversed":         func() { s.Range(3, 2) },
			"range too long":         func() { s.Range(0, 5) },
			"sub-range too long":     func() { s.Range(0, 2).Range(0, 3) },
			"source too long":        func() { s.Range(0, 2).Put(1, make([]int32, 3)) },
			"destination too long":   func() { s.Range(0, 2).Get(1, make([]int32, 3)) },
			"freed, At":              func() { freed.At(0) },
			"freed, Range":           func() { freed.All() },
			"freed, Local":           func() { freed.Local() },
			"freed twice":            func() { freed.Free(ctx) },
			"never allocated":        func() { never.All() },
			"closed context":         func() { s.On(c).At(0).Put(1, 1) },
			"closed context, atomic": func() { pgas.AtomicOf(s, 0).On(c).Add(1, 1) },
			"closing the default":    func() { w.Context().Close() },
			"negative count":         func() { pgas.Alloc[int32](ctx, w, -1) },
			"alignment of three":     func() { pgas.AllocAligned[int32](ctx, w, 1, 3) },
			"pointers":               func() { pgas.Alloc[struct{ P *int }](ctx, w, 1) },
			"strings":                func() { pgas.Alloc[[2]string](ctx, w, 1) },
			"unknown comparison":     func() { pgas.AtomicOf(s, 0).Test(99, 0) },
		} {
			if err := panicOf(misuse); err == nil {
				return fmt.Errorf("%s: accepted", name)
			} else if usage := (*pgas.UsageError)(nil); !errors.As(err, &usage) || usage.Msg == "" || usage.Op == "" {
				return fmt.Errorf("%s: panics with %v, not with a *UsageError", name, err)
			}
		}
		return nil
	})
}

func panicOf(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}

// TestContextsOrderApart: puts on a private context are complete after its own quiet.
func TestContextsOrderApart(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		c, err := w.NewContext(pgas.Private())
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		for i := range int64(50) {
			s.On(c).At(0).Put(other, i)
			s.At(1).Put(other, -i)
			c.FencePE(other)
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			if got := s.At(0).Get(other); got != i {
				return fmt.Errorf("after the quiet of its context a put of %d reads %d", i, got)
			}
			if err := w.Context().QuietPE(ctx, other); err != nil {
				return err
			}
			if got := s.At(1).Get(other); got != -i {
				return fmt.Errorf("after a quiet a put of %d reads %d", -i, got)
			}
		}
		return c.Close()
	})
}

// TestServedWhileComputing: one-sided access goes on while the target computes and never calls the
// library.
func TestServedWhileComputing(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		word := pgas.AtomicOf(s, 0)
		if w.PE() == 1 {
			x, end := uint64(1), time.Now().Add(300*time.Millisecond)
			for time.Now().Before(end) {
				for range 10_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
			if got := word.Fetch(1); got < 10 && x != 0 {
				return fmt.Errorf("only %d additions were served while this PE computed", got)
			}
			return w.Barrier(ctx)
		}
		for range 100 {
			word.FetchAdd(1, 1)
		}
		return w.Barrier(ctx)
	})
}
