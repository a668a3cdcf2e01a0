package coll

// Scans, and reductions in the order of the team. Each member is in charge of a part of the elements: it
// fetches that part from every member, walks through them in the order of the team, and stores what each
// is to have. Members of this host are read and written where they are.

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// Scan is a scan of the given kind. which names the operator in reports.
func Scan[T any](ctx context.Context, g *Group, k Kind, which uint8, dst, src Range, f Operator[T], o Options) error {
	r := newScan(g, k, dst, src, f, o)
	op, options := o.inReduction(which)
	c := Call{Kind: k, op: op, root: options, Size: dst.Size, count: uint64(dst.N), elem: reflect.TypeFor[T](), bufferHash: buffersOf(dst.Off, src.Off)}
	var err error
	g.see(ctx, racecheck.Read, src.Off, src.bytes())
	if dst.N == 0 {
		err = g.enter(ctx, &c)
	} else if len(r.l.hosts) == 1 && r.bytes() <= inlineBytes {
		err = r.smallScan(ctx, &c)
	} else {
		err = r.teamOrder(ctx, &c)
	}
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", c.Kind, g.Name, callsite.At(), err)
	}
	g.seeEnd(ctx, src.Off, src.bytes(), dst.Off, dst.bytes())
	return nil
}

// CheckScan panics as Scan does for operands that do not fit together, or if an algorithm is selected.
func CheckScan[T any](g *Group, k Kind, dst, src Range, o Options) {
	newScan[T](g, k, dst, src, nil, o)
}

func newScan[T any](g *Group, k Kind, dst, src Range, f Operator[T], o Options) reduction[T] {
	if o.Algorithm != Auto {
		g.misuse(k.String(), "there is one algorithm for scans: leave out %s", o.Algorithm)
	}
	return newReduction(k.String(), g, dst, src, f, o)
}

// smallScan is a scan of what fits an arrival record, on one host: each member combines those before it.
func (r *reduction[T]) smallScan(ctx context.Context, c *Call) error {
	g, n := r.g, r.dst.N
	e, err := g.begin(ctx, c, 0)
	if err != nil {
		return err
	}
	defer g.end()
	copy(viewAs[T](e.data[:], n), r.srcMine())
	if err := g.arrive(e); err != nil {
		return err
	}
	upTo := r.l.localRank + 1
	if c.Kind == KindExscan {
		upTo--
	}
	result := r.dstMine()
	if upTo == 0 {
		clear(result)
	}
	for k := range upTo {
		other, err := g.awaitArrival(ctx, r.l, k)
		if err != nil {
			return err
		}
		if v := viewAs[T](other.data[:], n); k == 0 {
			copy(result, v)
		} else {
			r.f.into(result, result, v)
		}
	}
	return nil
}

// teamOrder is a scan, or a reduction in the order of the team.
func (r *reduction[T]) teamOrder(ctx context.Context, c *Call) error {
	g := r.g
	e, err := g.begin(ctx, c, 0)
	if err != nil {
		return err
	}
	defer g.end()
	if err := g.barrierIn(ctx, e); err != nil {
		return err
	}
	lo, hi := share(r.dst.N, len(g.PEs), g.Me)
	step := max(1, blockBytes/int(node.SizeOf[T]()))
	if len(g.hosts) > 1 {
		step = max(1, pieceBytes/int(node.SizeOf[T]()))
	}
	for ; lo < hi; lo += step {
		if err := r.teamOrderPiece(ctx, c.Kind, lo, min(lo+step, hi)); err != nil {
			return err
		}
	}
	if err := g.flush(); err != nil {
		return err
	}
	return g.barrier(ctx, &Call{Kind: KindSync})
}

// teamOrderPiece does elements lo to hi.
func (r *reduction[T]) teamOrderPiece(ctx context.Context, k Kind, lo, hi int) error {
	n := hi - lo
	fetched, err := r.fetchSources(ctx, lo, hi)
	if err != nil {
		return err
	}
	acc := viewAs[T](scratch(&r.g.calls.result, n*int(node.SizeOf[T]())), n)
	clear(acc)
	var kept []T
	for i := range r.g.PEs {
		v := r.memberSource(fetched, i, lo, hi)
		if k == KindExscan {
			// What is before member i goes there, but only once its own source has been read.
			kept = append(kept[:0], v...)
			r.deliver(i, lo, acc)
			v = kept
		}
		r.accumulate(acc, v, i)
		if k == KindInscan {
			r.deliver(i, lo, acc)
		}
	}
	if k == kindReduce {
		for i := range r.g.PEs {
			r.deliver(i, lo, acc)
		}
	}
	return nil
}

// accumulate combines v, which is member i's, into acc.
func (r *reduction[T]) accumulate(acc, v []T, i int) {
	if i == 0 {
		copy(acc, v)
	} else {
		r.f.into(acc, acc, v)
	}
}

// deliver stores v from element lo on in the dst of member i.
func (r *reduction[T]) deliver(i, lo int, v []T) {
	pe := r.g.PEs[i]
	if r.g.n.Shm.Heap(pe) != nil {
		copy(peerSlice[T](r.g.n, pe, r.dst.Off, r.dst.N)[lo:], v)
		return
	}
	r.g.n.Channel(pe).Put(pe, r.offset(lo), AsBytes(v))
}

// fetchSources gets elements lo to hi of the sources of the members on other hosts: those of member i at
// i*(hi-lo). Nothing that points at r may be kept beside what f gets, or every reduction would allocate.
func (r *reduction[T]) fetchSources(ctx context.Context, lo, hi int) ([]T, error) {
	g, size := r.g, (hi-lo)*int(node.SizeOf[T]())
	if len(g.hosts) == 1 {
		return nil, nil
	}
	all := scratch(&g.calls.scratch, len(g.PEs)*size)
	for i, pe := range g.PEs {
		if g.n.Shm.Heap(pe) == nil {
			g.n.Channel(pe).GetNB(pe, all[i*size:][:size], uint64(r.src.Off+uintptr(lo)*node.SizeOf[T]()))
		}
	}
	return viewAs[T](all, len(g.PEs)*(hi-lo)), g.flush()
}

// memberSource is elements lo to hi of the source of member i: where they are, or where they were fetched.
func (r *reduction[T]) memberSource(fetched []T, i, lo, hi int) []T {
	if pe := r.g.PEs[i]; r.g.n.Shm.Heap(pe) != nil {
		return peerSlice[T](r.g.n, pe, r.src.Off, r.src.N)[lo:hi]
	}
	return fetched[i*(hi-lo):][:hi-lo]
}
