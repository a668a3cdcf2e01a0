package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestMisuse: a bug of the program is a panic that says what would be right, and leaves everything usable.
func TestMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		sub, err := w.Team().SplitList(ctx, []int{1})
		if err != nil {
			return err
		}
		started, freed := notify.New(w, 1, 1, 2), notify.New(w, 1, 1, 1)
		started.Start()
		freed.Free()
		fresh := notify.New(w, 1, 2, 1)
		word := pgas.AtomicOf(mem, 0)
		for _, c := range []struct {
			what, want string
			run        func()
		}{
			{"source out of range", "there is no PE 2", func() { notify.New(w, 2, 0, 1) }},
			{"source out of range", "use 0 to 1, or Any", func() { notify.New(w, -2, 0, 1) }},
			{"tag out of range", "there is no tag -2", func() { notify.New(w, 0, -2, 1) }},
			{"tag out of range", "use 0 to 2147483647, or Any", func() { notify.Probe(w, 0, notify.MaxTag+1) }},
			{"count 0", "the count is 1 to", func() { notify.New(w, 0, 0, 0) }},
			{"count too large", "the count is 1 to", func() { notify.New(w, 0, 0, 1<<31) }},
			{"restarted while active", "wait for it, or Cancel it", func() { started.Start() }},
			{"freed while active", "wait for it, or Cancel it", func() { started.Free() }},
			{"never started", "call Start first", func() { fresh.Test() }},
			{"never started", "call Start first", func() { fresh.Wait(ctx) }},
			{"none started", "call Start first", func() { notify.WaitAny(ctx, fresh) }},
			{"none started", "call Start first", func() { notify.TestAll(fresh) }},
			{"no requests", "pass some", func() { notify.WaitAll(ctx) }},
			{"freed", "make another with New", func() { freed.Start() }},
			{"freed", "make another with New", func() { freed.Free() }},
			{"freed", "make another with New", func() { freed.Test() }},
			{"tag of a put", "use 0 to 2147483647", func() { mem.At(0).PutNotify(1, new(int64), -1) }},
			{"tag of a get", "use 0 to 2147483647", func() { mem.All().GetNotify(1, nil, notify.MaxTag+1) }},
			{"tag of an atomic", "use 0 to 2147483647", func() { word.Notify(-1).Inc(0) }},
			{"no such PE", "PE 2 is out of range", func() { w.Notify(2, 0) }},
			{"no such PE", "PE -1 is out of range", func() { word.Notify(0).FetchAdd(-1, 1) }},
			{"too long", "do not fit", func() { mem.Range(0, 2).PutNotify(1, make([]int64, 3), 0) }},
		} {
			if err := panics(c.run); err == nil || !strings.Contains(err.Error(), c.want) {
				return fmt.Errorf("%s: got %v, want %q", c.what, err, c.want)
			}
		}
		if err := panics(func() { notify.NewIn(sub, 1, 0, 1) }); err == nil {
			return errors.New("a request of a team whose member this PE is not, or from one that is none, was made")
		}
		started.Cancel()
		if err := w.Barrier(ctx); err != nil { // later notes go to the requests that they are meant for
			return err
		}
		started.Start()
		for range 2 {
			w.Notify(1-w.PE(), 1)
		}
		if w.PE() == 0 { // which is notified by PE 1
			if _, err := started.Wait(ctx); err != nil {
				return err
			}
		} else {
			started.Cancel()
			r := notify.New(w, 0, 1, 2)
			r.Start()
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// panics returns the *pgas.UsageError that f panics with.
func panics(f func()) (err error) {
	defer func() {
		var misuse *pgas.UsageError
		if e, ok := recover().(error); ok && errors.As(e, &misuse) {
			err = misuse
		}
	}()
	f()
	return nil
}

// TestSecondStartHasLine: of two goroutines that start a request at the same time the second one's error has its line.
func TestSecondStartHasLine(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r := notify.New(w, notify.Any, 1, 1)
		group := w.Go(ctx)
		for range 2 {
			group.Go(func(context.Context) error { r.Start(); return nil })
		}
		err := group.Wait()
		if usage := (*pgas.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(usage.At, "notify/misuse_test.go:") {
			return fmt.Errorf("the error has no line: %w", err)
		}
		r.Cancel()
		r.Free()
		return nil
	})
}
