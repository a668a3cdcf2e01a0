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

// blockBytes is how much is combined at a time: the block of the result stays in the first cache while
// the sources pass.
const blockBytes = 8 << 10

// A reduction is one under way.
type reduction[T any] struct {
	g        *Group
	l        *layout
	dst, src operand
	f        operator[T]
}

// reduce combines src of all members into dst of every member by f. which names the operator in reports.
func reduce[T any](ctx context.Context, g *Group, which uint8, dst, src operand, f operator[T], o options) error {
	r := newReduction("reduction", g, dst, src, f, o)
	c := call{kind: kindReduce, op: which | o.bits()<<4, size: dst.size, count: uint64(dst.n)}.at(dst.off, src.off)
	if dst.n == 0 {
		return nil
	}
	var err error
	way := g.reductionAlgorithm(o, r.l, dst.bytes())
	switch {
	case o.ordered:
		c.root = 1
		err = r.inOrder(ctx, c)
	case dst.bytes() <= inlineBytes && way == doubling:
		err = r.small(ctx, c)
	default:
		err = r.large(ctx, c, way)
	}
	if err != nil {
		return fmt.Errorf("reduction on team %s%s: %w", g.name, atSite(), err)
	}
	return nil
}

// newReduction checks the operands of a reduction or a scan.
func newReduction[T any](op string, g *Group, dst, src operand, f operator[T], o options) reduction[T] {
	if dst.n != src.n {
		g.misuse(op, "dst has %d elements and src %d: they must be as many", dst.n, src.n)
	}
	if d := int(dst.off) - int(src.off); d != 0 && max(d, -d) < dst.bytes() {
		g.misuse(op, "dst and src overlap: they must be the same range or have nothing in common")
	}
	return reduction[T]{g, g.layoutFor(o), dst, src, f}
}

// dstMine returns this PE's dst.
func (r *reduction[T]) dstMine() []T { return reach[T](r.g.n, r.g.n.job.PE, r.dst.off, r.dst.n) }

// srcMine returns this PE's src.
func (r *reduction[T]) srcMine() []T { return reach[T](r.g.n, r.g.n.job.PE, r.src.off, r.src.n) }

// reductionAlgorithm returns the algorithm between the hosts of l for a reduction of that many bytes.
func (g *Group) reductionAlgorithm(o options, l *layout, bytes int) algorithm {
	hosts := len(l.hosts)
	fits := throughBoxes(hosts, bytes) || landingFits(hosts, bytes)
	switch o.algorithm {
	case auto:
		switch {
		case fits && (bytes <= landingPiece || hosts == 2 && bytes <= pairMax):
			return doubling
		case len(l.hosts) > ringFrom && len(l.hosts) <= mostHosts:
			return ring
		case len(l.hosts) > mostHosts && fits:
			return doubling
		}
		return linear
	case doubling:
		if !fits {
			g.misuse("reduction", "doubling carries too little between hosts for %d bytes on %d hosts: use Linear or Ring", bytes, len(l.hosts))
		}
	case tree:
		g.misuse("reduction", "there is no %s reduction: use Linear, Doubling or Ring", o.algorithm)
	case linear, ring:
		if len(l.hosts) > mostHosts {
			g.misuse("reduction", "%s does %d hosts at most, and there are %d", o.algorithm, mostHosts, len(l.hosts))
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
	g, hosts := r.g, len(r.l.hosts)
	e, err := g.enter(ctx, c, doublingBoxes(hosts, r.bytes()))
	if err != nil {
		return err
	}
	defer g.leave()
	copy(elements[T](e.data[:], r.src.n), r.srcMine())
	if hosts == 1 {
		return r.smallHere(ctx, e)
	}
	if err := g.publish(e); err != nil {
		return err
	}
	result := elements[T](e.data[:], r.dst.n)
	if r.l.lead() {
		for k := 1; k < len(r.l.local); k++ {
			other, err := g.awaitEntry(ctx, r.l, k)
			if err != nil {
				return err
			}
			r.f.into(result, result, elements[T](other.data[:], r.dst.n))
		}
		if err := r.doubling(ctx, result); err != nil {
			return err
		}
		g.releaseLocal(r.l)
	} else {
		if err := g.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		result = elements[T](r.l.local[0].entry(g.turns.n).data[:], r.dst.n)
	}
	g.entered()
	copy(r.dstMine(), result)
	return nil
}

// smallHere is small on one host: everyone combines all entries.
func (r *reduction[T]) smallHere(ctx context.Context, e *entry) error {
	g := r.g
	crowded := !g.n.flags
	if crowded {
		if err := g.meetIn(ctx, e); err != nil {
			return err
		}
	} else if err := g.publish(e); err != nil {
		return err
	}
	result := r.dstMine()
	for k := range r.l.local {
		other := r.l.local[k].entry(g.turns.n)
		if !crowded {
			if _, err := g.awaitEntry(ctx, r.l, k); err != nil {
				return err
			}
		}
		if part := elements[T](other.data[:], r.dst.n); k == 0 {
			copy(result, part)
		} else {
			r.f.into(result, result, part)
		}
	}
	g.entered()
	return nil
}

// large is the reduction through the members' own memory.
func (r *reduction[T]) large(ctx context.Context, c call, way algorithm) error {
	g := r.g
	hosts := len(r.l.hosts)
	boxes := 0
	if hosts > 1 {
		boxes = reductionBoxes(way, hosts, r.bytes())
	}
	e, err := g.enter(ctx, c, boxes)
	if err != nil {
		return err
	}
	defer g.leave()
	if hosts > 1 {
		return r.largeBetween(ctx, e, way)
	}
	if err := g.meetIn(ctx, e); err != nil {
		return err
	}
	r.combineMyPart(r.dstMine(), len(r.l.here))
	return g.meet(ctx, call{kind: kindSync})
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
		acc = elements[T](grown(&r.g.turns.result, (hi-lo)*int(sizeOf[T]())), hi-lo)
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
	return reach[T](r.g.n, r.g.pes[r.l.here[k]], r.src.off, r.src.n)
}

// dstOf is the destination of member number k of this host.
func (r *reduction[T]) dstOf(k int) []T {
	return reach[T](r.g.n, r.g.pes[r.l.here[k]], r.dst.off, r.dst.n)
}

// largeBetween is large on several hosts.
func (r *reduction[T]) largeBetween(ctx context.Context, e *entry, way algorithm) error {
	g := r.g
	if err := g.meetLocal(ctx, r.l, e); err != nil {
		return err
	}
	r.combineMyPart(r.dstOf(0), 0)
	g.ready()
	if !r.l.lead() {
		if err := g.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		move(r.dstMine(), r.dstOf(0))
		g.entered()
		g.done()
		return nil
	}
	for k := range r.l.local {
		if err := g.awaitReady(ctx, r.l, k); err != nil {
			return err
		}
	}
	if err := r.amongLeaders(ctx, way); err != nil {
		return err
	}
	g.entered()
	g.releaseLocal(r.l)
	for k := 1; k < len(r.l.local); k++ {
		if err := g.awaitDone(ctx, r.l, k); err != nil {
			return err
		}
	}
	return nil
}

// bytes is the size of the operand.
func (r *reduction[T]) bytes() int { return r.dst.n * int(sizeOf[T]()) }

// part is share i of n elements in shares as equal as can be.
func part(n, shares, i int) (lo, hi int) { return n * i / shares, n * (i + 1) / shares }
