package coll

// Collects: every member gets the blocks of all members, in the order of the team. On one host each copies
// what the others show. On several, the leaders put the whole together, in mailboxes of their slots if it
// fits there and else in their dst, and the members of a host copy it from their leader's. A leader
// first takes the blocks of its own host, and then sends other leaders blocks straight to where they
// belong; by Linear, its own host's to all; by Ring, to the right neighbour what has come from the left;
// by RecursiveDoubling, all that it has, to a leader at twice the distance in each round.
//
// Where members contribute different numbers of elements they first collect those numbers.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// A collection is a collect under way.
type Collection struct {
	g      *Group
	l      *layout
	opts   Options
	call   Call
	dst    uintptr
	room   int // size of dst in bytes
	src    uintptr
	n      int      // size of this PE's block in bytes
	each   int      // size of every member's block in bytes, if all have the same
	starts []uint64 // starts of blocks of different sizes: one more than there are members
	sum    int      // size of all blocks in bytes
	whole  uintptr  // where a leader puts the blocks together
}

// PrepareF checks the arguments of an FCollect and fills in c.
func (c *Collection) PrepareF(g *Group, elem reflect.Type, dst, src Range, o Options) {
	c.fill(kindFCollect, g, elem, dst, src, o)
	c.each, c.sum = c.n, c.n*len(g.PEs)
	c.call.count = uint64(src.N)
	g.checkFits(kindFCollect, len(g.PEs)*src.N, dst.N)
	g.checkApart(kindFCollect, dst, c.sum, src, c.n)
}

// Prepare does it for a Collect.
func (c *Collection) Prepare(g *Group, elem reflect.Type, dst, src Range, o Options) {
	c.fill(KindCollect, g, elem, dst, src, o)
	g.checkApart(KindCollect, dst, c.room, src, c.n)
}

func (c *Collection) fill(k Kind, g *Group, elem reflect.Type, dst, src Range, o Options) {
	if o.Algorithm == Tree {
		g.misuse(k.String(), "there is no %s %s: use Linear, Ring or RecursiveDoubling", o.Algorithm, k)
	}
	c.g, c.l, c.opts = g, g.layoutFor(o), o
	c.dst, c.room, c.src, c.n = dst.Off, dst.bytes(), src.Off, src.bytes()
	c.call = Call{Kind: k, op: o.bits(), Size: src.Size, elem: elem, bufferHash: buffersOf(dst.Off, src.Off)}
	if k == KindCollect { // a member that gives nothing has no place for it either
		c.call.bufferHash = buffersOf(dst.Off, 0)
	}
}

// block is where the block of member i is in the whole.
func (c *Collection) block(i int) (lo, hi int) {
	if c.starts == nil {
		return i * c.each, (i + 1) * c.each
	}
	return int(c.starts[i]), int(c.starts[i+1])
}

// Fcollect gathers blocks of one length. When it returns nil, this member has those of all.
func (c *Collection) Fcollect(ctx context.Context) error {
	var err error
	c.g.see(ctx, racecheck.Read, c.src, c.n)
	if c.sum == 0 {
		err = c.g.enter(ctx, &c.call)
	} else if len(c.l.hosts) == 1 {
		err = c.fcollectIntraHost(ctx)
	} else {
		err = c.interHost(ctx, c.g.ownBytes(c.src, c.n), c.g.ownBytes(c.dst, c.sum))
	}
	return c.wrap(ctx, err)
}

// wrap ends a collect: it returns the error that the program gets.
func (c *Collection) wrap(ctx context.Context, err error) error {
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", c.call.Kind, c.g.Name, callsite.At(), err)
	}
	c.g.seeEnd(ctx, c.src, c.n, c.dst, c.sum)
	return nil
}

// fcollectIntraHost is FCollect on one host.
func (c *Collection) fcollectIntraHost(ctx context.Context) error {
	g, l := c.g, c.l
	s := chooseExposure(c.each, c.src, g.bcopyMax())
	e, err := g.begin(ctx, &c.call, s.mailboxes())
	if err != nil {
		return err
	}
	defer g.end()
	if g.joint(l, &s, c.sum) {
		if err := g.enterJointly(ctx, e); err != nil {
			return err
		}
		return c.jointly(ctx)
	}
	s.x = g.takeMailboxes(s.mailboxes())
	if s.kind != zcopy {
		copy(g.exposeBuf(&s, e), g.ownBytes(c.src, c.n))
	}
	met, err := g.arriveAll(ctx, l, e)
	if err != nil {
		return err
	}
	dst, past := g.ownBytes(c.dst, c.sum), g.exceedsCache((len(g.PEs)+1)*c.sum)
	for d := range l.localMembers {
		k := (l.localRank + d) % len(l.localMembers)
		if _, err := g.arrivalOf(ctx, l, k, met); err != nil {
			return err
		}
		lo, hi := c.block(l.localMembers[k])
		copyExposed(dst[lo:hi], g.peerBuf(l, &s, k), past)
	}
	g.noteAllArrived()
	if s.kind == zcopy {
		return g.barrier(ctx, &Call{Kind: KindSync})
	}
	return nil
}

// jointly is the rest of a collect on one host, by joint copies, after all have entered: a task is all blocks for
// one member.
func (c *Collection) jointly(ctx context.Context) error {
	g, members := c.g, c.l.localMembers
	back := takesFromBack()
	for to, ok := g.nextTask(len(members), back); ok; to, ok = g.nextTask(len(members), back) {
		dst := g.peerBytes(members[to], c.dst, c.sum)
		for d := range members {
			i := members[(to+d)%len(members)]
			lo, hi := c.block(i)
			copy(dst[lo:hi], g.peerBytes(i, c.src, hi-lo))
		}
		g.taskDone(len(members))
	}
	return g.awaitTasks(ctx, len(members))
}

// Collect gathers blocks of any length. When it returns nil, this member has those of all, one behind another.
func (c *Collection) Collect(ctx context.Context) error {
	c.g.see(ctx, racecheck.Read, c.src, c.n)
	if c.call.Size == 0 {
		return c.wrap(ctx, c.g.enter(ctx, &c.call))
	}
	if len(c.l.hosts) == 1 {
		return c.wrap(ctx, c.collectIntraHost(ctx))
	}
	if err := c.collectSizes(ctx); err != nil {
		return c.wrap(ctx, err)
	}
	if c.sum == 0 {
		return nil
	}
	c.mustFit(c.sum)
	c.call.count = uint64(c.sum / c.call.Size)
	return c.wrap(ctx, c.interHost(ctx, c.g.ownBytes(c.src, c.n), c.g.ownBytes(c.dst, c.sum)))
}

// mustFit panics if dst has no room for n bytes.
func (c *Collection) mustFit(n int) {
	if n > c.room {
		c.g.misuse("Collect", "the members have %s or more together, and dst has %d", plural.Count(n/c.call.Size, "element"), c.room/c.call.Size)
	}
}

// collectIntraHost is Collect on one host. An arrival record starts with the length of the block; then comes the block,
// if it fits, or its offset.
func (c *Collection) collectIntraHost(ctx context.Context) error {
	g, l := c.g, c.l
	e, err := g.begin(ctx, &c.call, 0)
	if err != nil {
		return err
	}
	defer g.end()
	binary.NativeEndian.PutUint64(e.data[:], uint64(c.n))
	if c.n <= inlineBytes-8 {
		copy(e.data[8:], g.ownBytes(c.src, c.n))
	} else {
		binary.NativeEndian.PutUint64(e.data[8:], uint64(c.src))
	}
	met, err := g.arriveAll(ctx, l, e)
	if err != nil {
		return err
	}
	dst, lends := g.ownBytes(c.dst, c.room), false
	past := g.exceedsCache((len(g.PEs) + 1) * len(g.PEs) * c.n) // if all blocks are as long as this member's
	for k, i := range l.localMembers {
		other, err := g.arrivalOf(ctx, l, k, met)
		if err != nil {
			return err
		}
		n := int(binary.NativeEndian.Uint64(other.data[:]))
		c.mustFit(c.sum + n)
		if n <= inlineBytes-8 {
			copy(dst[c.sum:], other.data[8:][:n])
		} else {
			lends = true
			copyExposed(dst[c.sum:][:n], g.peerBytes(i, offsetIn(other.data[8:]), n), past)
		}
		c.sum += n
	}
	g.noteAllArrived()
	if lends {
		return g.barrier(ctx, &Call{Kind: KindSync})
	}
	return nil
}

// collectSizes finds out how long all members' block is.
func (c *Collection) collectSizes(ctx context.Context) error {
	n := len(c.g.PEs)
	c.starts = viewAs[uint64](scratch(&c.g.calls.result, (n+1)*8), n+1)
	ends := c.starts[1:]
	var own [8]byte
	binary.NativeEndian.PutUint64(own[:], uint64(c.n))
	sizes := Collection{g: c.g, l: c.l, call: c.call, each: 8, sum: 8 * n}
	var err error
	if sizes.sum <= maxMessage {
		err = sizes.interHost(ctx, own[:], AsBytes(ends))
	} else {
		err = sizes.pullAll(ctx, own[:], AsBytes(ends))
	}
	if err != nil {
		return err
	}
	c.starts[0] = 0
	for i := range ends {
		ends[i] += c.starts[i]
	}
	c.sum = int(c.starts[n])
	return nil
}

// pullAll is between for more members than a message has words: each fetches all members' block.
func (c *Collection) pullAll(ctx context.Context, own, all []byte) error {
	g := c.g
	e, err := g.begin(ctx, &c.call, 0)
	if err != nil {
		return err
	}
	defer g.end()
	copy(e.data[:], own)
	if err := g.barrierIn(ctx, e); err != nil {
		return err
	}
	for i, pe := range g.PEs {
		lo, hi := c.block(i)
		g.n.Channel(pe).GetNB(pe, all[lo:hi], uint64(slotOff(g.Slot)+arrivalOff(g.calls.n)+dataOff))
	}
	return g.flush()
}

// interHost is the collect between hosts: own is this PE's block, all becomes the whole.
func (c *Collection) interHost(ctx context.Context, own, all []byte) error {
	g, l := c.g, c.l
	way := g.collectAlgorithm(c.opts, c.call.Kind, len(l.hosts), c.sum)
	signals := collectSignals(way, len(l.hosts))
	room := mailboxesFor(c.sum)
	small := room+signals <= maxMailboxes
	if !small {
		room = 0
	}
	e, err := g.begin(ctx, &c.call, room+signals)
	if err != nil {
		return err
	}
	defer g.end()
	if c.whole = c.dst; small {
		c.whole = g.mailboxOff(g.takeMailboxes(room))
	}
	x := g.takeMailboxes(signals)
	if len(own) <= inlineBytes {
		copy(e.data[:], own)
	} else {
		binary.NativeEndian.PutUint64(e.data[:], uint64(c.src))
	}
	read := g.readCount()
	if small {
		err = g.arrive(e)
	} else {
		err = g.barrierIn(ctx, e)
	}
	if err != nil {
		return err
	}
	if !l.isLeader() {
		return c.fromLeader(ctx, all, small)
	}
	if err := c.gather(ctx); err != nil {
		return err
	}
	if err := c.amongLeaders(ctx, way, x); err != nil {
		return err
	}
	g.noteAllArrived()
	g.ready()
	if small {
		copy(all, g.ownBytes(c.whole, c.sum))
		return nil
	}
	return g.awaitReads(ctx, read, len(l.localMembers)-1)
}

// fromLeader copies the whole from the leader of this host.
func (c *Collection) fromLeader(ctx context.Context, all []byte, small bool) error {
	if err := c.g.awaitReady(ctx, c.l, 0); err != nil {
		return err
	}
	node.CopyLarge(all, c.g.peerBytes(c.l.localMembers[0], c.whole, c.sum))
	c.g.noteAllArrived()
	if !small {
		c.g.ackRead(c.l, 0)
	}
	return nil
}

// gather is how a leader takes the blocks of its host. Members that lend theirs wait until the leader is
// ready anyway.
func (c *Collection) gather(ctx context.Context) error {
	for k, i := range c.l.localMembers {
		e, err := c.g.awaitArrival(ctx, c.l, k)
		if err != nil {
			return err
		}
		lo, hi := c.block(i)
		from := e.data[:]
		if hi-lo > inlineBytes {
			from = c.g.peerBytes(i, offsetIn(from), hi-lo)
		}
		node.CopyLarge(c.g.ownBytes(c.whole+uintptr(lo), hi-lo), from[:hi-lo])
	}
	return nil
}

// offsetIn returns the offset of a block of a member of this host, which stands in its record in place of the block.
func offsetIn(b []byte) uintptr { return uintptr(binary.NativeEndian.Uint64(b)) }

// collectSignals is how many mailboxes the leaders need to tell each other what has come.
func collectSignals(way Algorithm, hosts int) int {
	switch way {
	case Linear:
		return hosts
	case Ring:
		return hosts - 1
	}
	return bits.Len(uint(hosts - 1))
}

// doublingCollectMax is up to how many bytes in all the number of trips is what a collect between many
// hosts costs. From there on Ring moves each byte over each wire once, and no member waits for a far host.
const doublingCollectMax = 16 << 10

// collectAlgorithm returns the algorithm between hosts that together collect so many bytes.
func (g *Group) collectAlgorithm(o Options, k Kind, hosts, bytes int) Algorithm {
	switch o.Algorithm {
	case Auto:
		switch {
		case hosts <= fewHosts:
			return Linear
		case bytes > doublingCollectMax && hosts <= maxMailboxes:
			return Ring
		}
		return RecursiveDoubling
	case Linear, Ring:
		if hosts > maxMailboxes {
			g.misuse(k.String(), "%s does %s at most, and there are %d: use RecursiveDoubling", o.Algorithm, plural.Count(maxMailboxes, "host"), hosts)
		}
	}
	return o.Algorithm
}

// amongLeaders completes the wholes of the leaders, each of which has the blocks of its own host.
func (c *Collection) amongLeaders(ctx context.Context, way Algorithm, x mailbox) error {
	n, me := len(c.l.hosts), c.l.hostIndex
	switch way {
	case Linear:
		for d := 1; d < n; d++ {
			c.send((me+d)%n, me, 1, x+mailbox(me))
		}
		for d := 1; d < n; d++ {
			if err := c.await(ctx, (me-d+n)%n, x+mailbox((me-d+n)%n)); err != nil {
				return err
			}
		}
	case Ring:
		for d := range n - 1 {
			c.send((me+1)%n, (me-d+n)%n, 1, x+mailbox(d))
			if err := c.await(ctx, (me-1+n)%n, x+mailbox(d)); err != nil {
				return err
			}
		}
	default:
		for d := 1; d < n; d, x = 2*d, x+1 {
			c.send((me-d+n)%n, me, min(d, n-d), x)
			if err := c.await(ctx, (me+d)%n, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// await waits until the leader of a host has filled mailbox x.
func (c *Collection) await(ctx context.Context, host int, x mailbox) error {
	return c.g.awaitMailbox(ctx, x, c.l.hosts[host][0])
}

// send gives the leader of host to the blocks of count hosts from the first on, and fills mailbox x there when
// they have come. What is in a row goes in one piece.
func (c *Collection) send(to, first, count int, x mailbox) {
	g, pe := c.g, c.g.PEs[c.l.hosts[to][0]]
	via := g.n.Channel(pe)
	lo, hi, pieces := 0, 0, 1
	for s := range count {
		for _, i := range c.l.hosts[(first+s)%len(c.l.hosts)] {
			from, end := c.block(i)
			switch {
			case from == end:
			case from == hi:
				hi = end
			default:
				if lo < hi {
					via.Put(pe, uint64(c.whole)+uint64(lo), g.ownBytes(c.whole+uintptr(lo), hi-lo))
					pieces++
				}
				lo, hi = from, end
			}
		}
	}
	if pieces > 1 {
		via.Fence(pe)
	}
	g.putThenSignal(c.l.hosts[to][0], x, uint64(c.whole)+uint64(lo), g.ownBytes(c.whole+uintptr(lo), hi-lo))
}

// Elements returns how many elements all members have contributed, once Collect has returned.
func (c *Collection) Elements() int { return c.sum / max(1, c.call.Size) }
