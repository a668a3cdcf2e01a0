package coll

// Reductions. The members of a host combine what they find in each other's memory; the leaders of the
// hosts then combine what their hosts have.
//
//	small      what fits an arrival record stands in it: all publish, and each combines all members'. On several
//	           hosts the leader alone does, exchanges it with the others', and leaves the result in
//	           its arrival record.
//	large      on one host each member combines a part for all and stores it in all members' dst: a
//	           barrier before, so that all memory is ready, and one after. On several hosts the parts
//	           are stored in the leader's dst, the leaders reduce there, and all copy the result.
//	in order   (Reproducible) each member of the team combines a part in the order of the team, fetching
//	           it from everybody, and stores it in all members' dst.
//
// Between hosts, RecursiveDoubling sends the whole with the fewest messages; Linear and Ring move each byte only
// as often as it must be moved: a leader combines its part of the whole, which all put into its staging area (Linear;
// if the parts do not fit it, the leader fetches them), or which is handed from neighbour to neighbour (Ring).

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// Reduce combines src of all members into dst of every member by f. which names the operator in reports.
func Reduce[T any](ctx context.Context, g *Group, which uint8, dst, src Range, f Operator[T], o Options) error {
	r := newReduction("reduction", g, dst, src, f, o)
	op, options := o.inReduction(which)
	c := Call{Kind: kindReduce, op: op, root: options, Size: dst.Size, count: uint64(dst.N), elem: reflect.TypeFor[T](), bufferHash: buffersOf(dst.Off, src.Off)}
	var err error
	g.see(ctx, racecheck.Read, src.Off, src.bytes())
	way := g.reductionAlgorithm(o, r.l, dst.bytes())
	switch {
	case dst.N == 0:
		err = g.enter(ctx, &c)
	case o.Ordered:
		err = r.teamOrder(ctx, &c)
	case dst.bytes() <= inlineBytes && way == RecursiveDoubling:
		err = r.small(ctx, &c)
	default:
		err = r.large(ctx, &c, way)
	}
	if err != nil {
		return fmt.Errorf("reduction on team %s%s: %w", g.Name, callsite.At(), err)
	}
	g.seeEnd(ctx, src.Off, src.bytes(), dst.Off, dst.bytes())
	return nil
}

// CheckReduce panics as Reduce does for operands that do not fit together, or an algorithm that cannot be had.
func CheckReduce[T any](g *Group, dst, src Range, o Options) {
	r := newReduction[T]("reduction", g, dst, src, nil, o)
	g.reductionAlgorithm(o, r.l, dst.bytes())
}

// reductionAlgorithm returns the algorithm between the hosts of l for a reduction of that many bytes.
func (g *Group) reductionAlgorithm(o Options, l *layout, bytes int) Algorithm {
	hosts := len(l.hosts)
	fits := mailboxesFit(hosts, bytes) || stagingFits(hosts, bytes)
	switch o.Algorithm {
	case Auto:
		switch {
		case fits && (bytes <= stagingPiece || hosts == 2 && bytes <= pairMax):
			return RecursiveDoubling
		case len(l.hosts) > ringFrom && len(l.hosts) <= mostHosts:
			return Ring
		case len(l.hosts) > mostHosts && fits:
			return RecursiveDoubling
		}
		return Linear
	case RecursiveDoubling:
		if !fits {
			g.misuse("reduction", "doubling carries too little between hosts for %d bytes on %s: use Linear or Ring", bytes, plural.Count(len(l.hosts), "host"))
		}
	case Tree:
		g.misuse("reduction", "there is no %s reduction: use Linear, RecursiveDoubling or Ring", o.Algorithm)
	case Linear, Ring:
		if len(l.hosts) > mostHosts {
			g.misuse("reduction", "%s does %s at most, and there are %d", o.Algorithm, plural.Count(mostHosts, "host"), len(l.hosts))
		}
	}
	return o.Algorithm
}

// small is the reduction of what fits an arrival record.
func (r *reduction[T]) small(ctx context.Context, c *Call) error {
	g := r.g
	e, err := g.begin(ctx, c, doublingMailboxes(len(r.l.hosts), r.bytes()))
	if err != nil {
		return err
	}
	defer g.end()
	copy(viewAs[T](e.data[:], r.src.N), r.srcMine())
	return r.combineRecords(ctx, e, r.dstMine())
}

// combineRecords sets into to what the arrival records of all members hold together.
func (r *reduction[T]) combineRecords(ctx context.Context, e *arrival, into []T) error {
	if len(r.l.hosts) == 1 {
		return r.combineIntraHost(ctx, e, into)
	}
	g := r.g
	if err := g.arrive(e); err != nil {
		return err
	}
	result := viewAs[T](e.data[:], r.dst.N)
	if r.l.isLeader() {
		for k := 1; k < len(r.l.local); k++ {
			other, err := g.awaitArrival(ctx, r.l, k)
			if err != nil {
				return err
			}
			r.f.into(result, result, viewAs[T](other.data[:], r.dst.N))
		}
		if err := r.doubling(ctx, result); err != nil {
			return err
		}
		g.release(r.l)
	} else {
		if err := g.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		result = viewAs[T](r.l.local[0].arrival(g.calls.n).data[:], r.dst.N)
	}
	g.noteAllArrived()
	copy(into, result)
	return nil
}

// combineIntraHost is combineRecords on one host: everyone combines all arrival records.
func (r *reduction[T]) combineIntraHost(ctx context.Context, e *arrival, into []T) error {
	g := r.g
	crowded := !g.n.Dedicated
	if crowded {
		if err := g.barrierIn(ctx, e); err != nil {
			return err
		}
	} else if err := g.arrive(e); err != nil {
		return err
	}
	for k := range r.l.local {
		other := r.l.local[k].arrival(g.calls.n)
		if !crowded {
			if _, err := g.awaitArrival(ctx, r.l, k); err != nil {
				return err
			}
		}
		if part := viewAs[T](other.data[:], r.dst.N); k == 0 {
			copy(into, part)
		} else {
			r.f.into(into, into, part)
		}
	}
	g.noteAllArrived()
	return nil
}

// large is the reduction through the members' own memory.
func (r *reduction[T]) large(ctx context.Context, c *Call, way Algorithm) error {
	g := r.g
	hosts := len(r.l.hosts)
	boxes := 0
	if hosts > 1 {
		boxes = reductionMailboxes(way, hosts, r.bytes())
	}
	e, err := g.begin(ctx, c, boxes)
	if err != nil {
		return err
	}
	defer g.end()
	if hosts > 1 {
		return r.largeInterHost(ctx, e, way)
	}
	if err := g.barrierIn(ctx, e); err != nil {
		return err
	}
	r.combineShare(r.dstMine(), len(r.l.localMembers))
	return g.barrier(ctx, &Call{Kind: KindSync})
}

// combineShare combines this member's part of the sources of its host into result, which is the dst of a
// member of the host, and stores it in the dst of the first so many members too.
func (r *reduction[T]) combineShare(result []T, copies int) {
	lo, hi := share(r.dst.N, len(r.l.localMembers), r.l.localRank)
	step := max(1, blockBytes/int(node.SizeOf[T]()))
	for ; lo < hi; lo += step {
		end := min(lo+step, hi)
		block := result[lo:end]
		r.combine(block, lo, end)
		for k := range copies {
			if k != r.l.localRank {
				copy(r.dstOf(k)[lo:end], block)
			}
		}
	}
}

// combine combines the sources of all members of the host, from lo to hi, into block, which may be part
// of any of them.
func (r *reduction[T]) combine(block []T, lo, hi int) {
	n := len(r.l.localMembers)
	if n == 1 {
		copy(block, r.sourceOf(0)[lo:hi])
		return
	}
	acc := block
	if n > 2 && r.dst.Off == r.src.Off {
		acc = viewAs[T](scratch(&r.g.calls.result, (hi-lo)*int(node.SizeOf[T]())), hi-lo)
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
	return peerSlice[T](r.g.n, r.g.PEs[r.l.localMembers[k]], r.src.Off, r.src.N)
}

// dstOf is the destination of member number k of this host.
func (r *reduction[T]) dstOf(k int) []T {
	return peerSlice[T](r.g.n, r.g.PEs[r.l.localMembers[k]], r.dst.Off, r.dst.N)
}

// largeInterHost is large on several hosts.
func (r *reduction[T]) largeInterHost(ctx context.Context, e *arrival, way Algorithm) error {
	g := r.g
	if err := g.gatherLocal(ctx, r.l, e); err != nil {
		return err
	}
	r.combineShare(r.dstOf(0), 0)
	g.ready()
	if !r.l.isLeader() {
		if err := g.awaitRelease(ctx, r.l); err != nil {
			return err
		}
		node.CopyLarge(r.dstMine(), r.dstOf(0))
		g.noteAllArrived()
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
	g.noteAllArrived()
	g.release(r.l)
	for k := 1; k < len(r.l.local); k++ {
		if err := g.awaitDone(ctx, r.l, k); err != nil {
			return err
		}
	}
	return nil
}

// amongLeaders reduces the leaders' dst in place.
func (r *reduction[T]) amongLeaders(ctx context.Context, way Algorithm) error {
	switch way {
	case RecursiveDoubling:
		if mailboxesFit(len(r.l.hosts), r.bytes()) {
			return r.doubling(ctx, r.dstMine())
		}
		return r.stagedDoubling(ctx)
	case Ring:
		return r.ring(ctx)
	}
	n := len(r.l.hosts)
	if linearPartsFit(n, (r.dst.N+n-1)/n*int(node.SizeOf[T]())) {
		return r.stagedLinear(ctx)
	}
	return r.linear(ctx)
}
