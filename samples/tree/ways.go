package main

// The ways from a child to its parent.

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/messages"
	"github.com/gopgas/gopgas/samples/versions"
)

func modes(o *options) []versions.Mode {
	mode := func(name, means string, makeWay func(context.Context, *tree) (way, error)) versions.Mode {
		return versions.Mode{Name: name, Means: means, Open: func(ctx context.Context, r *versions.Run) (versions.Version, error) {
			return open(ctx, r, o, makeWay)
		}}
	}
	return []versions.Mode{
		mode("messages", "send to the parent, a receive for each child", sending),
		mode("onesided", "put, quiet, and a count at the parent", counting),
		mode("barrier", "put, and a barrier after each level of the tree", meeting),
		mode("signal", "put that adds to a count at the parent", signalling),
		mode("notify", "notified put, one request for all children", notifying),
	}
}

// Messages: a parent receives from one child after the other.
type letters struct {
	*tree
	comm *messages.Comm
}

const tag = 16

// As MPI libraries do: a message of up to 8 KiB with its header is sent at once, and there are so many slots that
// giving them back is rare.
const eager, slots = 8<<10/8 - 2, 16

func sending(ctx context.Context, t *tree) (way, error) {
	comm, err := messages.Open(ctx, t.World, t.inbox.All(), messages.Options{Eager: min(t.o.numbers, eager), Slots: slots})
	return &letters{t, comm}, err
}

func (l *letters) collect(ctx context.Context) error {
	for child := range l.children {
		if _, err := l.comm.Recv(ctx, l.first+child, tag, child*l.o.numbers, l.o.numbers); err != nil {
			return err
		}
		if err := l.Charge(ctx, takes(1, l.o.receive)); err != nil {
			return err
		}
	}
	return nil
}

func (l *letters) deliver(ctx context.Context, numbers []float64) error {
	return l.comm.Send(ctx, l.parent, tag, numbers)
}

func (l *letters) end(context.Context) error       { return nil }
func (l *letters) close(ctx context.Context) error { return l.comm.Close(ctx) }

// One-sided: a child raises the count of its parent after a quiet, which has waited until the numbers have arrived.
type counts struct {
	*tree
	come pgas.Sym[int64] // children that have delivered, in all reductions
}

func counting(ctx context.Context, t *tree) (way, error) {
	come, err := pgas.Alloc[int64](ctx, t.World, 1)
	return &counts{t, come}, err
}

func (c *counts) collect(ctx context.Context) error {
	_, err := pgas.AtomicOf(c.come, 0).WaitUntil(ctx, pgas.GE, int64(c.children*c.turn))
	return err
}

func (c *counts) deliver(ctx context.Context, numbers []float64) error {
	c.from(c.nth).Put(c.parent, numbers)
	if err := c.Quiet(ctx); err != nil {
		return err
	}
	pgas.AtomicOf(c.come, 0).Inc(c.parent)
	return nil
}

func (c *counts) end(context.Context) error       { return nil }
func (c *counts) close(ctx context.Context) error { return c.come.Free(ctx) }

// Barriers: the deepest level puts, all PEs enter a barrier, and the next level has its numbers. No PE can wait for its
// own children alone.
type meetings struct {
	*tree
	done int // barriers of this reduction
}

func meeting(_ context.Context, t *tree) (way, error) { return &meetings{tree: t}, nil }

// upTo enters barriers of this reduction until there have been so many.
func (m *meetings) upTo(ctx context.Context, n int) error {
	for ; m.done < n; m.done++ {
		if err := m.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *meetings) collect(ctx context.Context) error { return m.upTo(ctx, m.levels-m.depth) }

func (m *meetings) deliver(_ context.Context, numbers []float64) error {
	m.from(m.nth).Put(m.parent, numbers)
	return nil
}

func (m *meetings) end(ctx context.Context) error {
	err := m.upTo(ctx, m.levels)
	m.done = 0
	return err
}

func (m *meetings) close(context.Context) error { return nil }

// Put with signal: the count is part of the put. It tells how many children have delivered, and nothing else.
type signals struct {
	*tree
	come pgas.Sym[pgas.Signal]
}

func signalling(ctx context.Context, t *tree) (way, error) {
	come, err := pgas.Alloc[pgas.Signal](ctx, t.World, 1)
	return &signals{t, come}, err
}

func (s *signals) collect(ctx context.Context) error {
	_, err := pgas.SignalOf(s.come, 0).WaitUntil(ctx, pgas.GE, uint64(s.children*s.turn))
	return err
}

func (s *signals) deliver(_ context.Context, numbers []float64) error {
	s.from(s.nth).PutSignalAdd(s.parent, numbers, pgas.SignalOf(s.come, 0), 1)
	return nil
}

func (s *signals) end(context.Context) error       { return nil }
func (s *signals) close(ctx context.Context) error { return s.come.Free(ctx) }

// Notified: the put tells its target, and the target has one request for all its children.
type notes struct {
	*tree
	all *notify.Request // nil: no children
}

func notifying(_ context.Context, t *tree) (way, error) {
	n := &notes{tree: t}
	if t.children > 0 {
		n.all = notify.New(t.World, notify.Any, tag, t.children)
	}
	return n, nil
}

func (n *notes) collect(ctx context.Context) error {
	n.all.Start()
	if _, err := n.all.Wait(ctx); err != nil {
		return err
	}
	return n.Charge(ctx, takes(n.children, n.o.note))
}

func (n *notes) deliver(_ context.Context, numbers []float64) error {
	n.from(n.nth).PutNotify(n.parent, numbers, tag)
	return nil
}

func (n *notes) end(context.Context) error { return nil }

func (n *notes) close(context.Context) error {
	if n.all != nil {
		n.all.Free()
	}
	return nil
}
