package pgas

// Scans, and reductions in the order of the team. Each member is in charge of a part of the elements: it
// fetches that part from every member, walks through them in the order of the team, and stores what each
// is to have. Members of this host are read and written where they are.

import (
	"context"
	"fmt"
)

func scan[T any](ctx context.Context, t *Team, c call, dst, src Slice[T], f operator[T], opts []CollectiveOption) error {
	r, o := newReduction(c.kind.String(), t, dst, src, f, opts)
	if o.algorithm != Auto {
		misuse(c.kind.String(), "there is one algorithm for scans: leave out Using(%s)", o.algorithm)
	}
	c.op |= o.bits() << 4
	c.size, c.count = int(sizeOf[T]()), uint64(dst.n)
	c = c.at(r.dst.off, r.src.off)
	given(c.kind.String(), ctx)
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
		return fmt.Errorf("%s on team %s%s: %w", c.kind, t.name, atSite(), err)
	}
	return nil
}

// smallScan is a scan of what fits an entry, on one host: each member combines those before it.
func (r *reduction[T]) smallScan(ctx context.Context, c call) error {
	t, n := r.t, r.dst.n
	e, err := t.enter(ctx, c, 0)
	if err != nil {
		return err
	}
	defer t.leave()
	copy(elements[T](e.data[:], n), r.src.Local())
	if err := t.publish(e); err != nil {
		return err
	}
	upTo := r.l.rank + 1
	if c.kind == kindExscan {
		upTo--
	}
	result := r.dst.Local()
	if upTo == 0 {
		clear(result)
	}
	for k := range upTo {
		other, err := t.awaitEntry(ctx, r.l, k)
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
	t := r.t
	e, err := t.enter(ctx, c, 0)
	if err != nil {
		return err
	}
	defer t.leave()
	if err := t.meetIn(ctx, e); err != nil {
		return err
	}
	lo, hi := part(r.dst.n, len(t.pes), t.me)
	step := max(1, blockBytes/int(sizeOf[T]()))
	if len(t.hosts) > 1 {
		step = max(1, pieceBytes/int(sizeOf[T]()))
	}
	for ; lo < hi; lo += step {
		if err := r.inOrderPiece(ctx, c.kind, lo, min(lo+step, hi)); err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	return t.meet(ctx, call{kind: kindSync})
}

// inOrderPiece does elements lo to hi.
func (r *reduction[T]) inOrderPiece(ctx context.Context, k kind, lo, hi int) error {
	n := hi - lo
	fetched, err := r.fetchSources(ctx, lo, hi)
	if err != nil {
		return err
	}
	acc := elements[T](grown(&r.t.turns.result, n*int(sizeOf[T]())), n)
	clear(acc)
	var kept []T
	for i := range r.t.pes {
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
		for i := range r.t.pes {
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
	pe := r.t.pes[i]
	if r.t.w.n.shm.Heap(pe) != nil {
		copy(reach[T](&r.t.w.n, pe, r.dst.off, r.dst.n)[lo:], v)
		return
	}
	r.t.w.n.channel(pe).Put(pe, r.offset(lo), asBytes(v))
}

// fetchSources gets elements lo to hi of the sources of the members on other hosts: those of member i at
// i*(hi-lo). Nothing that points at r may be kept beside what f gets, or every reduction would allocate.
func (r *reduction[T]) fetchSources(ctx context.Context, lo, hi int) ([]T, error) {
	t, size := r.t, (hi-lo)*int(sizeOf[T]())
	if len(t.hosts) == 1 {
		return nil, nil
	}
	all := grown(&t.turns.scratch, len(t.pes)*size)
	for i, pe := range t.pes {
		if t.w.n.shm.Heap(pe) == nil {
			t.w.n.channel(pe).GetNB(pe, all[i*size:][:size], uint64(r.src.off+uintptr(lo)*sizeOf[T]()))
		}
	}
	return elements[T](all, len(t.pes)*(hi-lo)), t.flush()
}

// memberSource is elements lo to hi of the source of member i: where they are, or where they were fetched.
func (r *reduction[T]) memberSource(fetched []T, i, lo, hi int) []T {
	if pe := r.t.pes[i]; r.t.w.n.shm.Heap(pe) != nil {
		return reach[T](&r.t.w.n, pe, r.src.off, r.src.n)[lo:hi]
	}
	return fetched[i*(hi-lo):][:hi-lo]
}
