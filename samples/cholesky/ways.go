package main

// The ways in which a tile moves from one PE to another. A PE cannot know which tile arrives next, nor from which PE:
// the message must name the tile.

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/messages"
	"github.com/gopgas/gopgas/samples/versions"
)

func modes(in *input) []versions.Mode {
	mode := func(name, means string, makeWay func(context.Context, *factor) (way, error)) versions.Mode {
		return versions.Mode{Name: name, Means: means, Open: func(ctx context.Context, r *versions.Run) (versions.Version, error) {
			return open(ctx, r, in, makeWay)
		}}
	}
	return []versions.Mode{
		mode("messages", "send with the tile's number as tag; probe, then receive into its place", sending),
		mode("onesided", "put, an entry of the target's ring by fetch-and-add, quiet, and the tile's number into it", listing),
		mode("notify", "notified put with the tile's number as tag, one request for any", notifying),
	}
}

// Messages: the tag names the tile, so a PE probes before it receives. No PE waits until its tile is received: two PEs
// may send to each other.
type letters struct {
	*factor
	comm *messages.Comm
}

func sending(ctx context.Context, f *factor) (way, error) {
	comm, err := messages.Open(ctx, f.World, f.tiles.All(), messages.Options{Eager: f.in.eager})
	return &letters{f, comm}, err
}

func (l *letters) give(ctx context.Context, number int, pes []int) error {
	for _, pe := range pes {
		if err := l.comm.Start(ctx, pe, number, l.place(number).Local()); err != nil {
			return err
		}
	}
	return nil
}

func (l *letters) next(ctx context.Context, wait bool) (int, bool, error) {
	status, ok := messages.Status{}, true
	var err error
	if wait {
		status, err = l.comm.Probe(ctx, messages.Any, messages.Any)
	} else {
		status, ok = l.comm.TryProbe(messages.Any, messages.Any)
	}
	if err != nil || !ok {
		return 0, false, err
	}
	size := l.side * l.side
	_, err = l.comm.Recv(ctx, status.From, status.Tag, status.Tag*size, size)
	return status.Tag, err == nil, err
}

func (l *letters) finish(ctx context.Context) error { return l.comm.Flush(ctx) }

func (l *letters) close(ctx context.Context) error { return l.comm.Close(ctx) }

// One-sided: each PE has a ring of numbers, with room for all tiles. A PE that has put a tile takes the next entry by
// a fetch-add, and writes the number there when the tile is known to have arrived.
type list struct {
	*factor
	tail pgas.Sym[int64] // entries taken, ever
	ring pgas.Sym[int64] // numbers, from 1; 0: not written
	head int             // entries read, ever
	took []int64         // entries of other PEs
}

func listing(ctx context.Context, f *factor) (_ way, err error) {
	l := &list{factor: f}
	if l.tail, err = pgas.Alloc[int64](ctx, f.World, 1); err != nil {
		return nil, err
	}
	l.ring, err = pgas.Alloc[int64](ctx, f.World, f.layout.tiles())
	return l, err
}

// entry returns the i-th entry of all that are ever written. An entry is read in the factorization that writes it.
func (l *list) entry(i int) pgas.Atomic[int64] { return pgas.AtomicOf(l.ring, i%l.ring.Len()) }

func (l *list) give(ctx context.Context, number int, pes []int) error {
	l.took = append(l.took[:0], make([]int64, len(pes))...)
	for i, pe := range pes {
		l.place(number).Put(pe, l.place(number).Local())
		pgas.AtomicOf(l.tail, 0).FetchIncNB(pe, &l.took[i])
	}
	if err := l.Quiet(ctx); err != nil { // the tile has arrived, and the entry is known
		return err
	}
	for i, pe := range pes {
		l.entry(int(l.took[i])).Set(pe, int64(number)+1)
	}
	return nil
}

func (l *list) next(ctx context.Context, wait bool) (int, bool, error) {
	entry := l.entry(l.head)
	if wait {
		if _, err := entry.WaitUntil(ctx, pgas.NE, 0); err != nil {
			return 0, false, err
		}
	} else if !entry.Test(pgas.NE, 0) {
		return 0, false, nil
	}
	l.head++
	return int(entry.Swap(l.PE(), 0)) - 1, true, nil
}

func (l *list) finish(context.Context) error { return nil }

func (l *list) close(ctx context.Context) error {
	if err := l.ring.Free(ctx); err != nil {
		return err
	}
	return l.tail.Free(ctx)
}

// Notified: the tag names the tile.
type notes struct {
	*factor
	any *notify.Request
}

func notifying(_ context.Context, f *factor) (way, error) {
	n := &notes{f, notify.New(f.World, notify.Any, notify.Any, 1)}
	n.any.Start()
	return n, nil
}

func (n *notes) give(_ context.Context, number int, pes []int) error {
	for _, pe := range pes {
		n.place(number).PutNotify(pe, n.place(number).Local(), number)
	}
	return nil
}

func (n *notes) next(ctx context.Context, wait bool) (int, bool, error) {
	status, ok := notify.Status{}, true
	var err error
	if wait {
		status, err = n.any.Wait(ctx)
	} else {
		status, ok = n.any.Test()
	}
	if err != nil || !ok {
		return 0, false, err
	}
	n.any.Start()
	return status.Tag, true, nil
}

func (n *notes) finish(context.Context) error { return nil }

func (n *notes) close(context.Context) error {
	n.any.Cancel() // no more tiles arrive
	n.any.Free()
	return nil
}
