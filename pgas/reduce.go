package pgas

// Reductions. The members of a host combine what they find in each other's memory; the leaders of the
// hosts then combine what their hosts have.
//
//	small      what fits an entry stands in it: all publish, and each combines everybody's. On several
//	           hosts the leader alone does, exchanges it with the others', and leaves the result in
//	           its entry.
//	large      on one host each member combines a part for all and stores it in everybody's dst: a
//	           meeting before, so that all memory is ready, and one after. On several hosts the parts
//	           are stored in the leader's dst, the leaders reduce there, and all copy the result.
//	in order   (Reproducible) each member of the team combines a part in the order of the team, fetching
//	           it from everybody, and stores it in everybody's dst.
//
// Between hosts, Doubling sends the whole with the fewest messages; Linear and Ring move each byte only
// as often as it must be moved: a leader combines its part of the whole, fetched from all (Linear) or
// handed from neighbour to neighbour (Ring).

import (
	"context"
	"fmt"
)

// Reproducible makes a reduction combine in the order of the team, so that a floating-point result
// depends neither on where the members are nor on the algorithm: it is that of a loop over the members.
// It costs two rounds more between hosts.
func Reproducible(o *collectiveOptions) { o.reproducible = true }

// blockBytes is how much is combined at a time: the block of the result stays in the first cache while
// the sources pass.
const blockBytes = 8 << 10

// A reduction is one under way.
type reduction[T any] struct {
	t        *Team
	l        *layout
	dst, src Slice[T]
	f        operator[T]
}

func reduce[T any](ctx context.Context, t *Team, which uint8, dst, src Slice[T], f operator[T], opts []CollectiveOption) error {
	r, o := newReduction("reduction", t, dst, src, f, opts)
	c := call{kind: kindReduce, op: which | o.bits()<<4, size: int(sizeOf[T]()), count: uint64(dst.n)}.at(r.dst.off, r.src.off)
	given("reduction", ctx)
	if dst.n == 0 {
		return nil
	}
	var err error
	bytes := dst.n * int(sizeOf[T]())
	way := o.between(r.l, bytes)
	switch {
	case o.reproducible:
		c.root = 1
		err = r.inOrder(ctx, c)
	case bytes <= inlineBytes && way == Doubling:
		err = r.small(ctx, c)
	default:
		err = r.large(ctx, c, way)
	}
	if err != nil {
		return fmt.Errorf("reduction on team %s%s: %w", t.name, atSite(), err)
	}
	return nil
}

// newReduction checks the arguments that reductions and scans have.
func newReduction[T any](op string, t *Team, dst, src Slice[T], f operator[T], opts []CollectiveOption) (reduction[T], collectiveOptions) {
	t.alive(op)
	if dst.n != src.n {
		misuse(op, "dst has %d elements and src %d: they must be as many", dst.n, src.n)
	}
	if dst.n > 0 && (dst.ctx.world(op) != t.w || src.ctx.world(op) != t.w) {
		misuse(op, "dst and src belong to another World than the team: a reference is of the World that it was allocated with")
	}
	if d := int(dst.off) - int(src.off); d != 0 && max(d, -d) < dst.n*int(sizeOf[T]()) {
		misuse(op, "dst and src overlap: they must be the same range or have nothing in common")
	}
	if dst.n > 0 {
		dst.off, src.off = uintptr(dst.place(op)), uintptr(src.place(op))
	}
	o := optionsOf(opts)
	return reduction[T]{t, t.layoutFor(o), dst, src, f}, o
}

// between is the algorithm between the hosts of l for a reduction of that many bytes.
func (o collectiveOptions) between(l *layout, bytes int) Algorithm {
	hosts := len(l.hosts)
	fits := throughBoxes(hosts, bytes) || landingFits(hosts, bytes)
	switch o.algorithm {
	case Auto:
		switch {
		case fits && (bytes <= landingPiece || hosts == 2 && bytes <= pairMax):
			return Doubling
		case len(l.hosts) > ringFrom && len(l.hosts) <= mostHosts:
			return Ring
		case len(l.hosts) > mostHosts && fits:
			return Doubling
		}
		return Linear
	case Doubling:
		if !fits {
			misuse("reduction", "doubling carries too little between hosts for %d bytes on %d hosts: use Linear or Ring", bytes, len(l.hosts))
		}
	case Tree:
		misuse("reduction", "there is no %s reduction: use Linear, Doubling or Ring", o.algorithm)
	case Linear, Ring:
		if len(l.hosts) > mostHosts {
			misuse("reduction", "%s does %d hosts at most, and there are %d", o.algorithm, mostHosts, len(l.hosts))
		}
	}
	return o.algorithm
}

const (
	// doublingMax is up to how many bytes doubling goes through boxes. Beyond it goes through landing places;
	// with more than two hosts it moves more bytes then than Linear, whose two more trips pay off.
	doublingMax = 8 << 10
	// pairMax is the same for two hosts, where doubling moves no more bytes than Linear but both ways at once.
	pairMax = 128 << 10
	// ringFrom is from how many hosts on Linear's messages all at once hinder each other.
	ringFrom = 16
)

// small is the reduction of what fits an entry.
func (r *reduction[T]) small(ctx context.Context, c call) error {
	t, hosts := r.t, len(r.l.hosts)
	e, err := t.enter(ctx, c, doublingBoxes(hosts, r.bytes()))
	if err != nil {
		return err
	}
	defer t.leave()
	copy(elements[T](e.data[:], r.src.n), r.src.Local())
	if hosts == 1 {
		return r.smallHere(ctx, e)
	}
	if err := t.publish(e); err != nil {
		return err
	}
	result := elements[T](e.data[:], r.dst.n)
	if r.l.lead() {
		for k := 1; k < len(r.l.local); k++ {
			other, err := t.awaitEntry(ctx, r.l, k)
			if err != nil {
				return err
			}
			r.f.into(result, result, elements[T](other.data[:], r.dst.n))
		}
		if err := r.doubling(ctx, result); err != nil {
			return err
		}
		t.releaseLocal(r.l)
	} else {
		if err := t.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		result = elements[T](r.l.local[0].entry(t.turns.n).data[:], r.dst.n)
	}
	t.entered()
	copy(r.dst.Local(), result)
	return nil
}

// smallHere is small on one host: everyone combines all entries.
func (r *reduction[T]) smallHere(ctx context.Context, e *entry) error {
	t := r.t
	crowded := !t.w.n.flags
	if crowded {
		if err := t.meetIn(ctx, e); err != nil {
			return err
		}
	} else if err := t.publish(e); err != nil {
		return err
	}
	result := r.dst.Local()
	for k := range r.l.local {
		other := r.l.local[k].entry(t.turns.n)
		if !crowded {
			if _, err := t.awaitEntry(ctx, r.l, k); err != nil {
				return err
			}
		}
		if part := elements[T](other.data[:], r.dst.n); k == 0 {
			copy(result, part)
		} else {
			r.f.into(result, result, part)
		}
	}
	t.entered()
	return nil
}

// large is the reduction through the members' own memory.
func (r *reduction[T]) large(ctx context.Context, c call, way Algorithm) error {
	t := r.t
	hosts := len(r.l.hosts)
	boxes := 0
	if hosts > 1 {
		boxes = reductionBoxes(way, hosts, r.bytes())
	}
	e, err := t.enter(ctx, c, boxes)
	if err != nil {
		return err
	}
	defer t.leave()
	if hosts > 1 {
		return r.largeBetween(ctx, e, way)
	}
	if err := t.meetIn(ctx, e); err != nil {
		return err
	}
	r.combineMyPart(r.dst.Local(), len(r.l.here))
	return t.meet(ctx, call{kind: kindSync})
}

// combineMyPart combines this member's part of the sources of its host into result, which is the dst of a
// member of the host, and stores it in the dst of the first so many members too.
func (r *reduction[T]) combineMyPart(result []T, copies int) {
	lo, hi := part(r.dst.n, len(r.l.here), r.l.rank)
	step := max(1, blockBytes/int(sizeOf[T]()))
	for ; lo < hi; lo += step {
		end := min(lo+step, hi)
		block := result[lo:end]
		r.combine(block, lo, end)
		for k := range copies {
			if k != r.l.rank {
				copy(r.dstOf(k)[lo:end], block)
			}
		}
	}
}

// combine combines the sources of all members of the host, from lo to hi, into block, which may be part
// of any of them.
func (r *reduction[T]) combine(block []T, lo, hi int) {
	n := len(r.l.here)
	if n == 1 {
		copy(block, r.sourceOf(0)[lo:hi])
		return
	}
	acc := block
	if n > 2 && r.dst.off == r.src.off {
		acc = elements[T](grown(&r.t.turns.result, (hi-lo)*int(sizeOf[T]())), hi-lo)
	}
	r.f.into(acc, r.sourceOf(0)[lo:hi], r.sourceOf(1)[lo:hi])
	for k := 2; k < n; k++ {
		r.f.into(acc, acc, r.sourceOf(k)[lo:hi])
	}
	if n > 2 {
		copy(block, acc)
	}
}

// sourceOf is the source of member number k of this host.
func (r *reduction[T]) sourceOf(k int) []T {
	return reach[T](&r.t.w.n, r.t.pes[r.l.here[k]], r.src.off, r.src.n)
}

// dstOf is the destination of member number k of this host.
func (r *reduction[T]) dstOf(k int) []T {
	return reach[T](&r.t.w.n, r.t.pes[r.l.here[k]], r.dst.off, r.dst.n)
}

// largeBetween is large on several hosts.
func (r *reduction[T]) largeBetween(ctx context.Context, e *entry, way Algorithm) error {
	t := r.t
	if err := t.meetLocal(ctx, r.l, e); err != nil {
		return err
	}
	r.combineMyPart(r.dstOf(0), 0)
	t.ready()
	if !r.l.lead() {
		if err := t.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		move(r.dst.Local(), r.dstOf(0))
		t.entered()
		t.done()
		return nil
	}
	for k := range r.l.local {
		if err := t.awaitReady(ctx, r.l, k); err != nil {
			return err
		}
	}
	if err := r.amongLeaders(ctx, way); err != nil {
		return err
	}
	t.entered()
	t.releaseLocal(r.l)
	for k := 1; k < len(r.l.local); k++ {
		if err := t.awaitDone(ctx, r.l, k); err != nil {
			return err
		}
	}
	return nil
}

// bytes is the size of the operand.
func (r *reduction[T]) bytes() int { return r.dst.n * int(sizeOf[T]()) }

// part is share i of n elements in shares as equal as can be.
func part(n, shares, i int) (lo, hi int) { return n * i / shares, n * (i + 1) / shares }
