package main

// The links by which a point moves to the next PE. This sample compares them.

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/messages"
	"github.com/gopgas/gopgas/samples/versions"
)

func modes(o *options) []versions.Mode {
	mode := func(name, means string, open func(ctx context.Context, g *grid) (*pipeline, error)) versions.Mode {
		return versions.Mode{Name: name, Means: means, Open: func(ctx context.Context, r *versions.Run) (versions.Version, error) {
			g, err := newGrid(ctx, r, o)
			if err != nil {
				return nil, err
			}
			return open(ctx, g)
		}}
	}
	return []versions.Mode{
		mode("messages", "send and receive", byMessages),
		mode("onesided", "put, quiet, and then a flag that the target waits for", byFlags),
		mode("fence", "put, and a barrier for each row", byBarriers),
		mode("notify", "notified puts", byNotes),
	}
}

// A link moves the last point of a row to the next PE's halo. That of row 0 goes from the last PE to the first
// one, which is the end of an iteration.
type link interface {
	give(ctx context.Context, to, row int, v float64) error
	take(ctx context.Context, from, row int) error
	close(ctx context.Context) error
}

// over returns the pipeline over l.
func (g *grid) over(l link) *pipeline {
	return &pipeline{g, func(ctx context.Context) error { return g.iterate(ctx, l) }, l.close}
}

// iterate does one iteration over l.
func (g *grid) iterate(ctx context.Context, l link) error {
	for j := 1; j <= g.o.rows; j++ {
		if g.left != noPE {
			if err := l.take(ctx, g.left, j); err != nil {
				return err
			}
		}
		if err := g.compute(ctx, j); err != nil {
			return err
		}
		if g.right != noPE {
			if err := l.give(ctx, g.right, j, g.last(j)); err != nil {
				return err
			}
		}
	}
	return g.again(ctx, l)
}

// again moves the last point to the first one.
func (g *grid) again(ctx context.Context, l link) error {
	last := g.NPEs() - 1
	switch {
	case last == 0:
		g.halo.Local()[0] = -g.last(g.o.rows)
	case g.PE() == last:
		return l.give(ctx, 0, 0, -g.last(g.o.rows))
	case g.PE() == 0:
		return l.take(ctx, last, 0)
	}
	return nil
}

// messenger sends points. The tag is the row.
type messenger struct{ *messages.Comm }

func byMessages(ctx context.Context, g *grid) (*pipeline, error) {
	c, err := messages.Open(ctx, g.World, g.halo.All(), messages.Options{Eager: 16, Slots: 16})
	return g.over(messenger{c}), err
}

func (l messenger) give(ctx context.Context, to, row int, v float64) error {
	return l.Send(ctx, to, row, []float64{v})
}

func (l messenger) take(ctx context.Context, from, row int) error {
	_, err := l.Recv(ctx, from, row, row, 1)
	return err
}

func (l messenger) close(ctx context.Context) error { return l.Close(ctx) }

// flags puts a point, waits until it has arrived, and raises a flag. Each PE puts to one PE only, so the flag
// is a count.
type flags struct {
	g            *grid
	words        pgas.Sym[pgas.Signal]
	given, taken uint64
}

func byFlags(ctx context.Context, g *grid) (*pipeline, error) {
	words, err := pgas.Alloc[pgas.Signal](ctx, g.World, 1)
	return g.over(&flags{g: g, words: words}), err
}

func (l *flags) give(ctx context.Context, to, row int, v float64) error {
	l.g.halo.At(row).Put(to, v)
	if err := l.g.Quiet(ctx); err != nil {
		return err
	}
	l.given++
	pgas.SignalOf(l.words, 0).Set(to, l.given)
	return nil
}

func (l *flags) take(ctx context.Context, _, _ int) error {
	l.taken++
	_, err := pgas.SignalOf(l.words, 0).WaitUntil(ctx, pgas.GE, l.taken)
	return err
}

func (l *flags) close(ctx context.Context) error { return l.words.Free(ctx) }

// noter puts a point with a notification, whose tag is the row. Each PE gets points from one PE only.
type noter struct {
	g        *grid
	requests *notify.Request
}

func byNotes(_ context.Context, g *grid) (*pipeline, error) {
	from := g.left
	if from == noPE {
		from = g.NPEs() - 1
	}
	return g.over(&noter{g, notify.New(g.World, from, notify.Any, 1)}), nil
}

func (l *noter) give(_ context.Context, to, row int, v float64) error {
	l.g.halo.At(row).PutNotify(to, &v, row)
	return nil
}

func (l *noter) take(ctx context.Context, _, _ int) error {
	l.requests.Start()
	_, err := l.requests.Wait(ctx)
	return err
}

func (l *noter) close(context.Context) error {
	l.requests.Free()
	return nil
}

// byBarriers lets all PEs take one step at a time: in step s, PE p computes row s-p, and a barrier completes its puts.
func byBarriers(_ context.Context, g *grid) (*pipeline, error) {
	iterate := func(ctx context.Context) error {
		for step := 1; step < g.o.rows+g.NPEs(); step++ {
			if j := step - g.PE(); j >= 1 && j <= g.o.rows {
				if err := g.compute(ctx, j); err != nil {
					return err
				}
				if g.right != noPE {
					g.halo.At(j).Put(g.right, g.last(j))
				} else if j == g.o.rows {
					g.halo.At(0).Put(0, -g.last(j))
				}
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return &pipeline{g, iterate, func(context.Context) error { return nil }}, nil
}
