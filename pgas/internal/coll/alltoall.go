package coll

// All-to-alls. Member i has a block for each member j, which becomes block i there. On one host each
// member copies its blocks from what the others show, or the members that have a CPU copy for all (joint.go). Between
// hosts there are two ways:
//
//	bundled  a leader sends each other leader one message with the blocks of all members here for all
//	         members there. The members of a host then take theirs from their leader's mailboxes.
//	         For blocks that are so small that the number of messages is what they cost.
//	direct   every member sends every member of another host its block, straight into its dst; blocks
//	         with gaps go by mailboxes, in as many calls as it takes.
//
// Linear sends everything before it waits for anything; Ring has one block under way at a time, to a
// member one further on in each step.

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// An allToAll is one under way.
type AllToAll struct {
	g                *Group
	l                *layout
	call             Call
	way              Algorithm
	dst, src         uintptr
	n, size          int // elements of a block, and bytes of an element
	dstStep, srcStep int // bytes from one element to the next in dst and in src
}

// Prepare checks the arguments of an AllToAll and fills in a.
func (a *AllToAll) Prepare(g *Group, elem reflect.Type, dst, src Range, o Options) {
	if src.N%len(g.PEs) != 0 {
		g.misuse("AllToAll", "%s are no equal blocks for %s", plural.Count(src.N, "element"), plural.Count(len(g.PEs), "member"))
	}
	g.checkFits(kindAllToAll, src.N, dst.N)
	g.checkApart(kindAllToAll, dst, src.bytes(), src, src.bytes())
	a.fill(kindAllToAll, g, elem, dst, src, o)
	a.n = src.N / len(g.PEs)
	a.call.count = uint64(a.n)
}

// PrepareS does it for an AllToAllS.
func (a *AllToAll) PrepareS(g *Group, elem reflect.Type, dst, src Range, dstStride, srcStride, n int, o Options) {
	if dstStride < 1 || srcStride < 1 || n < 0 {
		g.misuse("AllToAllS", "strides %d and %d, %s: strides are from 1 and n from 0 on", dstStride, srcStride, plural.Count(n, "element"))
	}
	reach := func(stride int) int { return 1 + (len(g.PEs)*n-1)*stride }
	if n > 0 {
		g.checkFits(kindAllToAllS, reach(dstStride), dst.N)
		g.checkFits(kindAllToAllS, reach(srcStride), src.N)
		g.checkApart(kindAllToAllS, dst, reach(dstStride)*dst.Size, src, reach(srcStride)*src.Size)
	}
	a.fill(kindAllToAllS, g, elem, dst, src, o)
	a.n = n
	a.dstStep, a.srcStep = dstStride*a.size, srcStride*a.size
	a.call.count = uint64(n)
	a.call.root, a.call.extra = strides(dstStride, srcStride), uint64(dstStride)<<32^uint64(srcStride)
}

func (a *AllToAll) fill(k Kind, g *Group, elem reflect.Type, dst, src Range, o Options) {
	a.g, a.l, a.way = g, g.layoutFor(o), o.Algorithm
	a.dst, a.src, a.size, a.dstStep, a.srcStep = dst.Off, src.Off, src.Size, src.Size, src.Size
	a.call = Call{Kind: k, op: o.bits(), Size: src.Size, elem: elem, bufferHash: buffersOf(dst.Off, src.Off)}
	switch o.Algorithm {
	case Auto:
		a.way = Linear
	case Tree, RecursiveDoubling:
		g.misuse(k.String(), "there is no %s %s: use Linear or Ring", o.Algorithm, k)
	}
}

// bytes is the length of a block without its gaps.
func (a *AllToAll) bytes() int { return a.n * a.size }

// gaps reports whether dst has elements that must not be touched.
func (a *AllToAll) gaps() bool { return a.dstStep != a.size }

// pack copies elements lo to hi of block j of src, which is a heap's, to b.
func (a *AllToAll) pack(b []byte, src []byte, j, lo, hi int) {
	copyStrided(b, a.size, src[(j*a.n+lo)*a.srcStep:], a.srcStep, hi-lo, a.size)
}

// unpack copies b to elements lo to hi of block i of dst.
func (a *AllToAll) unpack(i int, b []byte, lo, hi int) {
	copyStrided(a.g.n.Heap[a.dst:][(i*a.n+lo)*a.dstStep:], a.dstStep, b, a.size, hi-lo, a.size)
}

// source is the src of member i, which is on this host, and what follows it in the heap.
func (a *AllToAll) source(i int) []byte { return a.g.n.Shm.Heap(a.g.PEs[i])[a.src:] }

// take copies this PE's block from the src of member i, which is on this host.
func (a *AllToAll) take(i int) { a.takeFor(a.g.Me, i, false) }

// Run takes part in the exchange. When it returns nil, this member has all blocks that are meant for it, and its own
// may be changed.
func (a *AllToAll) Run(ctx context.Context) error {
	var err error
	a.g.seeBlocks(ctx, racecheck.Read, a.src, a.size, a.srcStep, len(a.g.PEs)*a.n)
	if a.bytes() == 0 {
		err = a.g.enter(ctx, &a.call)
	} else if len(a.l.hosts) == 1 {
		err = a.intraHost(ctx)
	} else if b := a.bundle(); b.mailboxes <= maxMailboxes {
		err = a.bundled(ctx, b)
	} else {
		err = a.direct(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", a.call.Kind, a.g.Name, callsite.At(), err)
	}
	a.g.seeBlocks(ctx, racecheck.Read, a.src, a.size, a.srcStep, len(a.g.PEs)*a.n)
	a.g.seeBlocks(ctx, racecheck.Write, a.dst, a.size, a.dstStep, len(a.g.PEs)*a.n)
	return nil
}

// show is how a member shows its whole src to the members of its host.
func (a *AllToAll) show(stagedMax int) exposure {
	return chooseExposure(len(a.g.PEs)*a.bytes(), a.src, stagedMax)
}

// packExposed packs src to where s shows it.
func (a *AllToAll) packExposed(s *exposure, e *arrival) {
	if s.kind != zcopy {
		copyStrided(a.g.exposeBuf(s, e), a.size, a.source(a.g.Me), a.srcStep, len(a.g.PEs)*a.n, a.size)
	}
}

// takeLocal copies this PE's blocks from what the members of this host show; met says that all have come.
func (a *AllToAll) takeLocal(ctx context.Context, s *exposure, met bool) error {
	past := a.g.exceedsCache(2 * len(a.l.localMembers) * len(a.g.PEs) * a.bytes())
	for d := range a.l.localMembers {
		k := (a.l.localRank + d) % len(a.l.localMembers)
		if _, err := a.g.arrivalOf(ctx, a.l, k, met); err != nil {
			return err
		}
		if s.kind == zcopy {
			a.takeFor(a.g.Me, a.l.localMembers[k], past)
		} else {
			a.unpack(a.l.localMembers[k], a.g.peerBuf(a.l, s, k)[a.g.Me*a.bytes():], 0, a.n)
		}
	}
	return nil
}

// intraHost is the all-to-all on one host.
func (a *AllToAll) intraHost(ctx context.Context) error {
	g := a.g
	s := a.show(g.bcopyMax())
	e, err := g.begin(ctx, &a.call, s.mailboxes())
	if err != nil {
		return err
	}
	defer g.end()
	if g.joint(a.l, &s, len(g.PEs)*a.bytes()) {
		return a.jointly(ctx, e)
	}
	s.x = g.takeMailboxes(s.mailboxes())
	a.packExposed(&s, e)
	met, err := g.arriveAll(ctx, a.l, e)
	if err != nil {
		return err
	}
	if err := a.takeLocal(ctx, &s, met); err != nil {
		return err
	}
	g.noteAllArrived()
	if s.kind == zcopy {
		return g.barrier(ctx, &Call{Kind: KindSync})
	}
	return nil
}

// jointly is the all-to-all on one host by joint copies: a task is all blocks for one member.
func (a *AllToAll) jointly(ctx context.Context, e *arrival) error {
	g, members := a.g, len(a.g.PEs)
	if err := g.enterJointly(ctx, e); err != nil {
		return err
	}
	back := takesFromBack()
	for to, ok := g.nextTask(members, back); ok; to, ok = g.nextTask(members, back) {
		for d := range members {
			a.takeFor(to, (to+d)%members, false)
		}
		g.taskDone(members)
	}
	return g.awaitTasks(ctx, members)
}

// takeFor copies the block that member i has for member to, past the caches if past says so. Both are on this host.
func (a *AllToAll) takeFor(to, i int, past bool) {
	dst := a.g.n.Shm.Heap(a.g.PEs[to])[a.dst:][i*a.n*a.dstStep:]
	src := a.source(i)[to*a.n*a.srcStep:]
	if past && !a.gaps() && a.srcStep == a.size {
		copyExposed(dst[:a.bytes()], src[:a.bytes()], past)
		return
	}
	copyStrided(dst, a.dstStep, src, a.srcStep, a.n, a.size)
}

// A bundle says what bundled needs.
type bundle struct {
	most      int // the most members of a host
	each      int // number of mailboxes for a message
	mailboxes int // number of mailboxes for all messages
}

// bundle is what bundled would need; too many mailboxes if it is out of the question.
func (a *AllToAll) bundle() bundle {
	var need bundle
	for _, members := range a.l.hosts {
		need.most = max(need.most, len(members))
	}
	s := a.show(maxMessage)
	if need.most > 1 && s.kind == zcopy || need.most*need.most*a.bytes() > maxMessage {
		need.mailboxes = maxMailboxes + 1
		return need
	}
	need.each = mailboxesFor(need.most * need.most * a.bytes())
	need.mailboxes = len(a.l.hosts) * need.each
	if need.most > 1 {
		need.mailboxes += s.mailboxes()
	}
	return need
}

// bundled is the all-to-all between hosts with one message for each pair of them: the blocks for the
// first member there from all members here, then those for the second, and so on.
func (a *AllToAll) bundled(ctx context.Context, b bundle) error {
	g, l := a.g, a.l
	e, err := g.begin(ctx, &a.call, b.mailboxes)
	if err != nil {
		return err
	}
	defer g.end()
	s := exposure{kind: zcopy}
	if b.most > 1 {
		s = a.show(maxMessage)
		s.x = g.takeMailboxes(s.mailboxes())
	}
	x := g.takeMailboxes(len(l.hosts) * b.each)
	from := func(host int) mailbox { return x + mailbox(host*b.each) }
	a.packExposed(&s, e)
	if err := g.arrive(e); err != nil {
		return err
	}
	if l.isLeader() {
		if err := a.sendBundles(ctx, &s, from); err != nil {
			return err
		}
		g.ready()
	} else if err := g.awaitReady(ctx, l, 0); err != nil {
		return err
	}
	if err := a.takeLocal(ctx, &s, true); err != nil {
		return err
	}
	for host, members := range l.hosts {
		if host == l.hostIndex {
			continue
		}
		n := len(members) * a.bytes()
		blocks := g.peerBytes(l.localMembers[0], g.mailboxOff(from(host)), len(l.localMembers)*n)[l.localRank*n:]
		for k, i := range members {
			a.unpack(i, blocks[k*a.bytes():], 0, a.n)
		}
	}
	g.noteAllArrived()
	return nil
}

// sendBundles sends the other leaders their bundles and waits for theirs.
func (a *AllToAll) sendBundles(ctx context.Context, s *exposure, from func(host int) mailbox) error {
	g, l := a.g, a.l
	for k := range l.local {
		if _, err := g.awaitArrival(ctx, l, k); err != nil {
			return err
		}
	}
	n := len(l.hosts)
	for d := 1; d < n; d++ {
		to := (l.hostIndex + d) % n
		g.send(l.hosts[to][0], from(l.hostIndex), a.packBundle(s, from(l.hostIndex), l.hosts[to]))
		if a.way == Ring {
			if err := g.awaitMailbox(ctx, from((l.hostIndex-d+n)%n), l.hosts[(l.hostIndex-d+n)%n][0]); err != nil {
				return err
			}
		}
	}
	for d := 1; d < n; d++ {
		if err := g.awaitMailbox(ctx, from((l.hostIndex-d+n)%n), l.hosts[(l.hostIndex-d+n)%n][0]); err != nil {
			return err
		}
	}
	return nil
}

// packBundle puts together the bundle for the given members of another host, in mailbox x of this PE, which no member
// fills.
func (a *AllToAll) packBundle(s *exposure, x mailbox, members []int) []byte {
	b := a.g.received(x, len(a.l.localMembers)*len(members)*a.bytes())
	at := b
	for _, j := range members {
		for k, i := range a.l.localMembers {
			if s.kind == zcopy {
				a.pack(at, a.source(i), j, 0, a.n)
			} else {
				copy(at[:a.bytes()], a.g.peerBuf(a.l, s, k)[j*a.bytes():])
			}
			at = at[a.bytes():]
		}
	}
	return b
}

// partners returns which member this PE sends to in step s, and which it receives from. All differ in each step.
func (g *Group) partners(s int) (to, from int) {
	n := len(g.PEs)
	return (g.Me + s) % n, (g.Me - s + n) % n
}

// isLocal reports whether member i is on this host, as l has it.
func (g *Group) isLocal(l *layout, i int) bool {
	return i == g.Me || l == &g.layout && g.n.Shm.Heap(g.PEs[i]) != nil
}

// A leg is the part of a direct all-to-all that one call does: elements lo to hi of the blocks, in steps
// first to last.
type batch struct {
	lo, hi, first, last int
	mailboxes           int  // number of mailboxes for each step
	mailboxed           bool // the elements arrive in mailboxes, not in dst
}

// direct is the all-to-all between hosts in which every member sends every other one its block.
func (a *AllToAll) direct(ctx context.Context) error {
	read := a.g.readCount()
	n, members := a.n, len(a.g.PEs)
	b := batch{mailboxes: 1, mailboxed: a.gaps() && a.size <= mailboxBytes}
	if b.mailboxed {
		n = min(n, maxMessage/a.size)
		b.mailboxes = mailboxesFor(n * a.size)
	}
	steps := maxMailboxes / b.mailboxes
	for b.lo = 0; b.lo < a.n; b.lo += n {
		for b.first = 0; b.first < members; b.first += steps {
			b.hi, b.last = min(b.lo+n, a.n), min(b.first+steps, members)
			if err := a.rounds(ctx, &b, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// rounds does one leg. With the first come the blocks of this host; after the last, this PE waits until
// its own have been read. No member leaves before it has received from all: so dst is ready everywhere once
// all have met.
func (a *AllToAll) rounds(ctx context.Context, b *batch, read uint64) error {
	g := a.g
	e, err := g.begin(ctx, &a.call, (b.last-b.first)*b.mailboxes)
	if err != nil {
		return err
	}
	defer g.end()
	x := g.takeMailboxes((b.last - b.first) * b.mailboxes)
	if b.lo+b.first > 0 {
		err = g.arrive(e)
	} else {
		err = g.barrierIn(ctx, e)
	}
	if err != nil {
		return err
	}
	for s := b.first; s < b.last; s++ {
		to, _ := g.partners(s)
		at := x + mailbox((s-b.first)*b.mailboxes)
		if !g.isLocal(a.l, to) {
			a.send(to, b, at)
		}
		if a.way == Ring {
			if err := a.receive(ctx, b, s, at); err != nil {
				return err
			}
		}
	}
	if b.lo+b.first == 0 {
		for k, i := range a.l.localMembers {
			a.take(i)
			if i != g.Me {
				g.ackRead(a.l, k)
			}
		}
	}
	for s := b.first; s < b.last && a.way != Ring; s++ {
		if err := a.receive(ctx, b, s, x+mailbox((s-b.first)*b.mailboxes)); err != nil {
			return err
		}
	}
	if b.hi == a.n && b.last == len(g.PEs) {
		return g.awaitReads(ctx, read, len(a.l.localMembers)-1)
	}
	return nil
}

// send sends member to its elements of this leg.
func (a *AllToAll) send(to int, b *batch, x mailbox) {
	g := a.g
	n := b.hi - b.lo
	block := a.source(g.Me)[(to*a.n+b.lo)*a.srcStep:]
	dst := uint64(a.dst) + uint64((g.Me*a.n+b.lo)*a.dstStep)
	if a.gaps() && !b.mailboxed {
		pe := g.PEs[to]
		via := g.n.Channel(pe)
		for i := range n {
			via.Put(pe, dst+uint64(i*a.dstStep), block[i*a.srcStep:][:a.size])
		}
		via.Fence(pe)
		g.putThenSignal(to, x, dst, nil)
		return
	}
	if a.srcStep != a.size {
		packed := scratch(&g.calls.scratch, n*a.size)
		copyStrided(packed, a.size, block, a.srcStep, n, a.size)
		block = packed
	}
	if b.mailboxed {
		g.send(to, x, block[:n*a.size])
	} else {
		g.putThenSignal(to, x, dst, block[:n*a.size])
	}
}

// receive waits for what step s brings, and unpacks it if it comes in mailbox x.
func (a *AllToAll) receive(ctx context.Context, b *batch, s int, x mailbox) error {
	_, from := a.g.partners(s)
	if a.g.isLocal(a.l, from) {
		return nil
	}
	if err := a.g.awaitMailbox(ctx, x, from); err != nil {
		return err
	}
	if b.mailboxed {
		a.unpack(from, a.g.received(x, (b.hi-b.lo)*a.size), b.lo, b.hi)
	}
	return nil
}
