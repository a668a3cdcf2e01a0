package containers_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestMailboxMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		none := func(int, []int) error { return nil }
		box, err := containers.NewMailbox(ctx, w, none)
		if err != nil {
			return err
		}
		other, err := containers.NewMailbox(ctx, w, none, containers.Over(nil))
		if err != nil {
			return err
		}
		freed, err := containers.NewMailbox(ctx, w, none)
		if err != nil {
			return err
		}
		if err := freed.Free(ctx); err != nil {
			return err
		}
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"no context":          func() { containers.NewMailbox(nilctx, w, none) },
			"no World":            func() { containers.NewMailbox(ctx, nil, none) },
			"nobody receives":     func() { containers.NewMailbox[int](ctx, w, nil) },
			"pointers":            func() { containers.NewMailbox(ctx, w, func(int, []string) error { return nil }) },
			"option of an array":  func() { containers.NewMailbox(ctx, w, none, containers.Cyclic()) },
			"zero option":         func() { containers.NewMailbox(ctx, w, none, containers.Option{}) },
			"no ring":             func() { containers.NewMailbox(ctx, w, none, containers.Ring(0)) },
			"no backlog":          func() { containers.NewMailbox(ctx, w, none, containers.Backlog(-1)) },
			"Send to no member":   func() { box.Send(ctx, 2, 1) },
			"Send to -1":          func() { box.Send(ctx, -1, 1) },
			"Send without ctx":    func() { box.Send(nilctx, 0, 1) },
			"Flush without ctx":   func() { box.Flush(nilctx) },
			"Send of no member":   func() { other.Send(ctx, 0, 1) },
			"Flush of no member":  func() { other.Flush(ctx) },
			"Send after Free":     func() { freed.Send(ctx, 0, 1) },
			"Poll after Free":     func() { freed.Poll() },
			"InFlight after Free": func() { freed.InFlight() },
			"Free after Free":     func() { freed.Free(ctx) },
			"Send of nil":         func() { (*containers.Mailbox[int])(nil).Send(ctx, 0, 1) },
			"Poll of zero":        func() { new(containers.Mailbox[int]).Poll() },
			"Flush of zero":       func() { new(containers.Mailbox[int]).Flush(ctx) },
			"Free of nil":         func() { (*containers.Mailbox[int])(nil).Free(ctx) },
			"Free without ctx":    func() { box.Free(nilctx) },
		})
	})
}

// TestMailboxReceiveMisuse: receive may call nothing but Send of its own mailbox.
func TestMailboxReceiveMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		calls := map[string]func(box *containers.Mailbox[int]){
			"Poll":  func(box *containers.Mailbox[int]) { box.Poll() },
			"Flush": func(box *containers.Mailbox[int]) { box.Flush(ctx) },
		}
		for name, call := range calls {
			var box *containers.Mailbox[int]
			receive := func(int, []int) error {
				if err := misuse(func() { call(box) }); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				return nil
			}
			box, err := containers.NewMailbox(ctx, w, receive)
			if err != nil {
				return err
			}
			if err := box.Send(ctx, 0, 1); err != nil {
				return err
			}
			if err := box.Flush(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestArrayMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[int64](ctx, w, 10)
		if err != nil {
			return err
		}
		short, err := containers.NewArray[int64](ctx, w, 9)
		if err != nil {
			return err
		}
		other, err := containers.NewArray[int64](ctx, w, 10, containers.Over(nil))
		if err != nil {
			return err
		}
		freed, err := containers.NewArray[int64](ctx, w, 10)
		if err != nil {
			return err
		}
		if err := freed.Free(ctx); err != nil {
			return err
		}
		var nilctx context.Context
		some, one := make([]int64, 2), []int{0}
		return misuses(t, map[string]func(){
			"negative length":        func() { containers.NewArray[int64](ctx, w, -1) },
			"too long":               func() { containers.NewArray[int64](ctx, w, 1<<40) },
			"pointers":               func() { containers.NewArray[*int](ctx, w, 1) },
			"no context":             func() { containers.NewArray[int64](nilctx, w, 1) },
			"no World":               func() { containers.NewArray[int64](ctx, nil, 1) },
			"blocks of none":         func() { containers.NewArray[int64](ctx, w, 1, containers.BlockCyclic(0)) },
			"option of a mailbox":    func() { containers.NewArray[int64](ctx, w, 1, containers.Backlog(1)) },
			"Get of -1":              func() { a.Get(-1) },
			"Get past the end":       func() { a.Get(10) },
			"Put past the end":       func() { a.Put(10, 1) },
			"Ref past the end":       func() { a.Ref(10) },
			"Owner past the end":     func() { a.Owner(10) },
			"Index of no member":     func() { a.Index(2, 0) },
			"Index past the part":    func() { a.Index(0, 5) },
			"GetRange past the end":  func() { a.GetRange(ctx, 9, some) },
			"GetRange of -1":         func() { a.GetRange(ctx, -1, some) },
			"GetRange without ctx":   func() { a.GetRange(nilctx, 0, some) },
			"PutRange past the end":  func() { a.PutRange(9, some) },
			"Gather of two for one":  func() { a.Gather(ctx, some, one) },
			"Gather past the end":    func() { a.Gather(ctx, some[:1], []int{10}) },
			"Gather without ctx":     func() { a.Gather(nilctx, nil, nil) },
			"Scatter of two for one": func() { a.Scatter(ctx, one, some) },
			"Scatter past the end":   func() { a.Scatter(ctx, []int{-1}, some[:1]) },
			"Count past the end":     func() { containers.Count(ctx, a, []int{10}) },
			"AddAll of two for one":  func() { containers.AddAll(ctx, a, one, some) },
			"MaxAll past the end":    func() { containers.MaxAll(ctx, a, []int{10}, some[:1]) },
			"MinAll past the end":    func() { containers.MinAll(ctx, a, []int{10}, some[:1]) },
			"Combine past the end":   func() { a.Combine(ctx, []int{10}, some[:1], func(x, _ int64) int64 { return x }) },
			"Combine by nothing":     func() { a.Combine(ctx, nil, nil, nil) },
			"Sort of no member":      func() { containers.Sort(ctx, other) },
			"SortFunc by nothing":    func() { a.SortFunc(ctx, nil) },
			"PrefixFunc by nothing":  func() { a.PrefixFunc(ctx, nil) },
			"PrefixSums without ctx": func() { containers.PrefixSums(nilctx, a) },
			"Reduce by nothing":      func() { a.Reduce(ctx, nil) },
			"CopyFrom a shorter":     func() { a.CopyFrom(ctx, short) },
			"CopyFrom no member":     func() { a.CopyFrom(ctx, other) },
			"Len of no member":       func() { other.Len() },
			"Local after Free":       func() { freed.Local() },
			"All after Free":         func() { freed.All() },
			"LocalAll of zero":       func() { new(containers.Array[int64]).LocalAll() },
			"Locate of nil":          func() { (*containers.Array[int64])(nil).Locate(0) },
			"Free after Free":        func() { freed.Free(ctx) },
			"Free of nil":            func() { (*containers.Array[int64])(nil).Free(ctx) },
			"Free without ctx":       func() { a.Free(nilctx) },
		})
	})
}
