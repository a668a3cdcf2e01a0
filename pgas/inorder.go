package pgas

// Scans, and reductions in the order of the team. Each member is in charge of a part of the elements: it
// fetches that part from every member, walks through them in the order of the team, and stores what each
// is to have. Members of this host are read and written where they are.

import (
	"context"
	"fmt"
)

// scan is a scan of the given kind. which names the operator in reports.
func scan[T any](ctx context.Context, g *Group, k kind, which uint8, dst, src operand, f operator[T], o options) error {
	r := newReduction(k.String(), g, dst, src, f, o)
	if o.algorithm != auto {
		g.misuse(k.String(), "there is one algorithm for scans: leave out WithAlgorithm(%s)", o.algorithm)
	}
	c := call{kind: k, op: which | o.bits()<<4, size: dst.size, count: uint64(dst.n)}.at(dst.off, src.off)
	if dst.n == 0 {
		return nil
	}
	var err error
	if len(r.l.hosts) == 1 && r.bytes() <= inlineBytes {
		err = r.smallScan(ctx, c)
	} else {
		err = r.inOrder(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", c.kind, g.name, atSite(), err)
	}
	return nil
}

// smallScan is a scan of what fits an entry, on one host: each member combines those before it.
func (r *reduction[T]) smallScan(ctx context.Context, c call) error {
	g, n := r.g, r.dst.n
	e, err := g.enter(ctx, c, 0)
	if err != nil {
		return err
	}
	defer g.leave()
	copy(elements[T](e.data[:], n), r.srcMine())
	if err := g.publish(e); err != nil {
		return err
	}
	upTo := r.l.rank + 1
	if c.kind == kindExscan {
		upTo--
	}
	result := r.dstMine()
	if upTo == 0 {
		clear(result)
	}
	for k := range upTo {
		other, err := g.awaitEntry(ctx, r.l, k)
		if err != nil {
			return err
		}
		if v := elements[T](other.data[:], n); k == 0 {
			copy(result, v)
		} else {
			r.f.into(result, result, v)
		}
	}
	return nil
}

// inOrder is a scan, or a reduction in the order of the team.
func (r *reduction[T]) inOrder(ctx context.Context, c call) error {
	g := r.g
	e, err := g.enter(ctx, c, 0)
	if err != nil {
		return err
	}
	defer g.leave()
	if err := g.meetIn(ctx, e); err != nil {
		return err
	}
	lo, hi := part(r.dst.n, len(g.pes), g.me)
	step := max(1, blockBytes/int(sizeOf[T]()))
	if len(g.hosts) > 1 {
		step = max(1, pieceBytes/int(sizeOf[T]()))
	}
	for ; lo < hi; lo += step {
		if err := r.inOrderPiece(ctx, c.kind, lo, min(lo+step, hi)); err != nil {
			return err
		}
	}
	if err := g.flush(); err != nil {
		return err
	}
	return g.meet(ctx, call{kind: kindSync})
}

// inOrderPiece does elements lo to hi.
func (r *reduction[T]) inOrderPiece(ctx context.Context, k kind, lo, hi int) error {
	n := hi - lo
	fetched, err := r.fetchSources(ctx, lo, hi)
	if err != nil {
		return err
	}
	acc := elements[T](grown(&r.g.turns.result, n*int(sizeOf[T]())), n)
	clear(acc)
	var kept []T
	for i := range r.g.pes {
		v := r.memberSource(fetched, i, lo, hi)
		if k == kindExscan {
			// What is before member i goes there, but only once its own source has been read.
			kept = append(kept[:0], v...)
			r.deliver(i, lo, acc)
			v = kept
		}
		r.accumulate(acc, v, i)
		if k == kindInscan {
			r.deliver(i, lo, acc)
		}
	}
	if k == kindReduce {
		for i := range r.g.pes {
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
	pe := r.g.pes[i]
	if r.g.n.shm.Heap(pe) != nil {
		copy(reach[T](r.g.n, pe, r.dst.off, r.dst.n)[lo:], v)
		return
	}
	r.g.n.channel(pe).Put(pe, r.offset(lo), asBytes(v))
}

// fetchSources gets elements lo to hi of the sources of the members on other hosts: those of member i at
// i*(hi-lo). Nothing that points at r may be kept beside what f gets, or every reduction would allocate.
func (r *reduction[T]) fetchSources(ctx context.Context, lo, hi int) ([]T, error) {
	g, size := r.g, (hi-lo)*int(sizeOf[T]())
	if len(g.hosts) == 1 {
		return nil, nil
	}
	all := grown(&g.turns.scratch, len(g.pes)*size)
	for i, pe := range g.pes {
		if g.n.shm.Heap(pe) == nil {
			g.n.channel(pe).GetNB(pe, all[i*size:][:size], uint64(r.src.off+uintptr(lo)*sizeOf[T]()))
		}
	}
	return elements[T](all, len(g.pes)*(hi-lo)), g.flush()
}

// memberSource is elements lo to hi of the source of member i: where they are, or where they were fetched.
func (r *reduction[T]) memberSource(fetched []T, i, lo, hi int) []T {
	if pe := r.g.pes[i]; r.g.n.shm.Heap(pe) != nil {
		return reach[T](r.g.n, pe, r.src.off, r.src.n)[lo:hi]
	}
	return fetched[i*(hi-lo):][:hi-lo]
}
