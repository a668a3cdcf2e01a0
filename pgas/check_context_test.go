package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// misusedAt returns an error unless call panics with a *UsageError that names two lines of this file and says what.
func misusedAt(w *pgas.World, name, what string, call func()) error {
	_, err := recoveredFrom(w, call)
	var misuse *pgas.UsageError
	if !errors.As(err, &misuse) || !strings.Contains(misuse.At, "check_context_test.go:") ||
		!strings.Contains(misuse.Msg, "check_context_test.go:") || !strings.Contains(misuse.Msg, what) {
		return fmt.Errorf("%s: %v, want a UsageError with two lines and %q", name, err, what)
	}
	return nil
}

// underWay are operations that are complete after a quiet and no sooner.
func underWay(mem pgas.Sym[int64], sig pgas.SignalRef, pe int) map[string]func() {
	row, word := mem.Range(0, 8), pgas.AtomicOf(mem, 1)
	buf := func() []int64 { return make([]int64, 8) } // each operation has its own
	return map[string]func(){
		"a put":                                func() { row.Put(pe, buf()[:4]) },
		"a put with a signal":                  func() { row.PutSignal(pe, buf()[:4], sig, 1) },
		"a get that does not wait":             func() { row.GetNB(pe, buf()[:4]) },
		"a get":                                func() { row.At(0).GetNB(pe, &buf()[0]) },
		"an atomic add":                        func() { word.Add(pe, 1) },
		"a fetching atomic that does not wait": func() { word.FetchAddNB(pe, 1, &buf()[0]) },
		"a fetching atomic":                    func() { pgas.AtomicsOf(row).FetchNB(pe, buf()) },
		"a notified put":                       func() { row.PutNotify(pe, buf()[:4], 1) },
		"a notified get that does not wait":    func() { row.GetNotifyNB(pe, buf()[:4], 1) },
		"a notified atomic add":                func() { word.Notify(1).Add(pe, 1) },
		"put of blocks":                        func() { row.IPut(pe, buf(), 2, 1, 2) },
		"get of blocks":                        func() { row.IGetNB(pe, buf(), 1, 2, 2) },
	}
}

// TestFreeWithOperationsUnderWay: Free of memory to which another context has operations under way is misuse, on every
// kind of PE; after a quiet of that context, or of that PE, it is not.
//
//ci:ucx
func TestFreeWithOperationsUnderWay(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunAll(t, 2, freeUnderWay)
	pgastest.RunLate(t, 2, 2, freeUnderWay)
	pgastest.RunNIC(t, 2, freeUnderWay)
}

func freeUnderWay(ctx context.Context, w *pgas.World) error {
	c, err := w.NewContext()
	if err != nil {
		return err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	pe := 1 - w.PE()
	mem, err := pgas.Alloc[int64](ctx, w, 16)
	if err != nil {
		return err
	}
	for name, call := range underWay(mem.On(c), pgas.SignalOf(signals, 0).On(c), pe) {
		call()
		if err := misusedAt(w, name, "may be under way to this memory", func() { mem.Free(ctx) }); err != nil {
			return err
		}
		quiet := c.Quiet
		if w.PE() == 0 {
			quiet = func(ctx context.Context) error { return c.QuietPE(ctx, pe) }
		}
		if err := quiet(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	mem.All().PutNB(pe, make([]int64, 16)) // the default context, which Free quiets
	if err := mem.Free(ctx); err != nil {
		return fmt.Errorf("after the quiets: %w", err)
	}
	return errors.Join(c.Close(), signals.Free(ctx))
}

// TestFreeOfASourceUnderWay: the memory that a get fills, or that a put still reads, may be symmetric too.
func TestFreeOfASourceUnderWay(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	body := func(ctx context.Context, w *pgas.World) error {
		c, err1 := w.NewContext()
		far, err2 := pgas.Alloc[int64](ctx, w, 16)
		near, err3 := pgas.Alloc[int64](ctx, w, 16)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		far.On(c).All().GetNB(1-w.PE(), near.Local())
		if err := misusedAt(w, "a destination", "a get that does not wait", func() { near.Free(ctx) }); err != nil {
			return err
		}
		if err := c.Quiet(ctx); err != nil {
			return err
		}
		return errors.Join(near.Free(ctx), far.Free(ctx), c.Close())
	}
	pgastest.Run(t, 2, body)
	pgastest.RunLate(t, 2, 2, body)
}

// TestFreeUnderACollective: a non-blocking collective of another team is under way until its Request is complete.
func TestFreeUnderACollective(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	body := func(ctx context.Context, w *pgas.World) error {
		team, err1 := w.Team().SplitStrided(ctx, 0, 1, 2)
		mem, err2 := pgas.Alloc[int64](ctx, w, 2)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		var r *pgas.Request
		if w.PE() == 0 { // PE 1 starts it only when PE 0 has been told
			r = pgas.SumReduceNB(ctx, team, mem.Range(0, 1), mem.Range(1, 2))
			if err := misusedAt(w, "a collective", "Request", func() { mem.Free(ctx) }); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			r = pgas.SumReduceNB(ctx, team, mem.Range(0, 1), mem.Range(1, 2))
		}
		if err := r.Wait(ctx); err != nil {
			return err
		}
		return errors.Join(mem.Free(ctx), team.Destroy(ctx))
	}
	pgastest.RunAll(t, 2, body)
}

// TestPrivateContextOfAnotherGoroutine: every use of a private context by a second goroutine is misuse.
func TestPrivateContextOfAnotherGoroutine(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunAll(t, 2, privateContexts)
	pgastest.RunLate(t, 2, 2, privateContexts)
}

func privateContexts(ctx context.Context, w *pgas.World) error {
	mem, err1 := pgas.Alloc[int64](ctx, w, 16)
	signals, err2 := pgas.Alloc[pgas.Signal](ctx, w, 1)
	c, err3 := w.NewContext(pgas.Private())
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	pe := 1 - w.PE()
	uses := underWay(mem.On(c), pgas.SignalOf(signals, 0).On(c), pe)
	uses["Get"] = func() { mem.At(0).On(c).Get(pe) }
	uses["Fetch"] = func() { pgas.AtomicOf(mem, 0).On(c).Fetch(pe) }
	uses["GetNotify"] = func() { mem.All().On(c).GetNotify(pe, make([]int64, 1), 1) }
	uses["Fence"] = func() { c.Fence() }
	uses["Quiet"] = func() { c.Quiet(ctx) }
	c.Fence() // from now on it is this goroutine's
	for name, use := range uses {
		g := w.Go(ctx, func(context.Context) error { return misusedAt(w, name, "private context", use) })
		if err := g.Wait(); err != nil {
			return err
		}
		if !strings.Contains(name, "notified") { // nobody waits for notifications here
			use()
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return w.Go(ctx, func(context.Context) error { return c.Close() }).Wait() // which any goroutine may
}

// TestSerializedContextAtTheSameTime: two goroutines may take turns in a serialized context, and no more.
func TestSerializedContextAtTheSameTime(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		mem, err1 := pgas.Alloc[byte](ctx, w, 1<<20)
		c, err2 := w.NewContext(pgas.Serialized())
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		row, buf := mem.All().On(c), make([]byte, 1<<20)
		for range 2 {
			if err := w.Go(ctx, func(context.Context) error { row.Put(0, buf); return nil }).Wait(); err != nil {
				return err
			}
		}
		var caught atomic.Bool
		use := func(context.Context) error {
			for !caught.Load() && ctx.Err() == nil {
				if _, err := recoveredFrom(w, func() { row.Put(0, buf) }); err != nil {
					caught.Store(true)
					return misusedAt(w, "serialized", "at the same time", func() { panic(err) })
				}
			}
			return context.Cause(ctx)
		}
		return w.Go(ctx, use, use).Wait()
	})
}
