package messages_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/messages"
)

// small makes eager messages of at most 8 floats, two under way.
var small = messages.Options{Eager: 8, Slots: 2}

func open(ctx context.Context, w *pgas.World, floats int) (*messages.Comm, []float64, error) {
	window, err := pgas.Alloc[float64](ctx, w, floats)
	if err != nil {
		return nil, nil, err
	}
	c, err := messages.Open(ctx, w, window.All(), small)
	return c, window.Local(), err
}

// floats returns n floats that identify their sender.
func floats(pe, tag, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(1000*pe + 100*tag + i)
	}
	return all
}

// TestRing: messages of every size around the limit of eager ones go round, more of them than there are
// slots.
func TestRing(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		c, window, err := open(ctx, w, 64)
		if err != nil {
			return err
		}
		next, previous := (w.PE()+1)%w.NPEs(), (w.PE()+w.NPEs()-1)%w.NPEs()
		for n := range 20 {
			send := func() error { return c.Send(ctx, next, n, floats(w.PE(), n, n)) }
			recv := func() error {
				s, err := c.Recv(ctx, previous, n, 10, 30)
				if err != nil {
					return err
				}
				if got, want := window[10:10+n], floats(previous, n, n); s != (messages.Status{From: previous, Tag: n, Len: n}) || !slices.Equal(got, want) {
					return fmt.Errorf("%+v: %v, want %v", s, got, want)
				}
				return nil
			}
			steps := []func() error{send, recv}
			if w.PE() == 0 { // a long message waits for its receiver, so one PE receives first
				slices.Reverse(steps)
			}
			for _, step := range steps {
				if err := step(); err != nil {
					return err
				}
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		return c.Close(ctx)
	})
}

// TestMatching: what is received is chosen by source and tag, the oldest first; the rest waits its turn.
func TestMatching(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		c, window, err := open(ctx, w, 64)
		if err != nil {
			return err
		}
		if me := w.PE(); me > 0 {
			for _, tag := range []int{5, 6, 5} {
				if err := c.Send(ctx, 0, tag, floats(me, tag, 4)); err != nil {
					return err
				}
			}
			return c.Send(ctx, 0, 7, floats(me, 7, 40))
		}
		if err := c.Send(ctx, 0, 8, floats(0, 8, 12)); err != nil { // to itself
			return err
		}
		for _, want := range []struct{ from, tag, askFrom, askTag, n int }{
			{2, 6, 2, 6, 4}, {2, 5, 2, messages.Any, 4}, {2, 5, 2, messages.Any, 4}, {1, 6, messages.Any, 6, 4},
			{2, 7, 2, 7, 40}, {1, 5, messages.Any, 5, 4}, {1, 5, 1, messages.Any, 4}, {1, 7, messages.Any, 7, 40},
			{0, 8, messages.Any, messages.Any, 12},
		} {
			if s, err := c.Probe(ctx, want.askFrom, want.askTag); err != nil || s.From != want.from && want.askTag == want.tag && want.askFrom != messages.Any {
				return fmt.Errorf("probe: %+v, %v, want %+v", s, err, want)
			}
			s, err := c.Recv(ctx, want.askFrom, want.askTag, 0, 64)
			if err != nil {
				return err
			}
			if s.From != want.from || s.Tag != want.tag || !slices.Equal(window[:s.Len], floats(want.from, want.tag, want.n)) {
				return fmt.Errorf("%+v: %v, want %+v", s, window[:s.Len], want)
			}
		}
		return nil
	})
}

// TestBadMessages: each mistake is told in a line that says what it was.
func TestBadMessages(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		c, _, err := open(ctx, w, 64)
		if err != nil {
			return err
		}
		if err := c.Send(ctx, 0, -1, nil); err == nil {
			return fmt.Errorf("tag -1 was taken")
		}
		if err := c.Send(ctx, 0, 1, floats(0, 1, 3)); err != nil {
			return err
		}
		if _, err := c.Recv(ctx, 0, 1, 0, 2); err == nil {
			return fmt.Errorf("3 floats fitted into 2")
		}
		if err := c.Close(ctx); err == nil {
			return fmt.Errorf("a message was lost that has not been received")
		}
		if _, err := messages.Open(ctx, w, pgas.Slice[float64]{}, messages.Options{Slots: -1}); err == nil {
			return fmt.Errorf("-1 slots were taken")
		}
		return nil
	})
}

// TestTryProbe: what has arrived is seen without waiting, and nothing else.
func TestTryProbe(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		c, _, err := open(ctx, w, 8)
		if err != nil {
			return err
		}
		if s, ok := c.TryProbe(messages.Any, messages.Any); ok {
			return fmt.Errorf("%+v has come from no PE", s)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			for tag := range 2 {
				if err := c.Send(ctx, 1, tag, floats(0, tag, 3)); err != nil {
					return err
				}
			}
		}
		if err := w.Barrier(ctx); err != nil { // the messages are there
			return err
		}
		if w.PE() == 1 {
			for _, tag := range []int{1, 0} {
				if s, ok := c.TryProbe(0, tag); !ok || s != (messages.Status{From: 0, Tag: tag, Len: 3}) {
					return fmt.Errorf("%+v, %v", s, ok)
				}
				if _, err := c.Recv(ctx, 0, tag, 0, 3); err != nil {
					return err
				}
			}
			if s, ok := c.TryProbe(0, messages.Any); ok {
				return fmt.Errorf("%+v is still there", s)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		return c.Close(ctx)
	})
}

// TestStart: PEs start long messages to each other before any of them receives, and receive the last ones first.
func TestStart(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		c, window, err := open(ctx, w, 64)
		if err != nil {
			return err
		}
		me := w.PE()
		for tag := range 2 * small.Slots {
			for _, pe := range []int{(me + 1) % 3, (me + 2) % 3} {
				if err := c.Start(ctx, pe, tag, floats(me, tag, small.Eager+tag)); err != nil {
					return err
				}
			}
			if tag < small.Slots {
				continue
			}
			for _, pe := range []int{(me + 2) % 3, (me + 1) % 3} {
				for _, tag := range []int{tag, tag - small.Slots} {
					if _, err := c.Recv(ctx, pe, tag, 0, 64); err != nil {
						return err
					}
					if want := floats(pe, tag, small.Eager+tag); !slices.Equal(window[:len(want)], want) {
						return fmt.Errorf("%v from PE %d, want %v", window[:len(want)], pe, want)
					}
				}
			}
		}
		if err := c.Flush(ctx); err != nil {
			return err
		}
		return c.Close(ctx)
	})
}
