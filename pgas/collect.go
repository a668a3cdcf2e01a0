package pgas

// Collects: every member gets the blocks of all members, in the order of the team. On one host each copies
// what the others show. On several, the leaders put the whole together, in boxes of their slots if it
// fits there and else in their dst, and the members of a host copy it from their leader's. A leader
// first takes the blocks of its own host, and then sends other leaders blocks straight to where they
// belong; by Linear, its own host's to all; by Ring, to the right neighbour what has come from the left;
// by Doubling, all that it has, to a leader at twice the distance in each round.
//
// Where members contribute different numbers of elements they first collect those numbers.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A collection is a collect under way.
type collection struct {
	g      *Group
	l      *layout
	opts   options
	call   call
	dst    uintptr
	room   int // bytes of dst
	src    uintptr
	n      int      // bytes of this PE's block
	each   int      // bytes of every member's block, or,
	starts []uint64 // if they differ, where they start: one more than there are members
	sum    int      // bytes of all blocks
	whole  uintptr  // where a leader puts the blocks together
}

// prepareF checks the arguments of an FCollect and fills in c.
func (c *collection) prepareF(g *Group, dst, src operand, o options) {
	c.fill(kindFCollect, g, dst, src, o)
	c.each, c.sum = c.n, c.n*len(g.pes)
	c.call.count = uint64(src.n)
	g.checkFits(kindFCollect, len(g.pes)*src.n, dst.n)
	g.checkApart(kindFCollect, dst, c.sum, src, c.n)
}

// prepare does it for a Collect.
func (c *collection) prepare(g *Group, dst, src operand, o options) {
	c.fill(kindCollect, g, dst, src, o)
	g.checkApart(kindCollect, dst, c.room, src, c.n)
}

func (c *collection) fill(k kind, g *Group, dst, src operand, o options) {
	if o.algorithm == tree {
		g.misuse(k.String(), "there is no %s %s: use Linear, Ring or Doubling", o.algorithm, k)
	}
	c.g, c.l, c.opts = g, g.layoutFor(o), o
	c.dst, c.room, c.src, c.n = dst.off, dst.bytes(), src.off, src.bytes()
	c.call = call{kind: k, op: o.bits(), size: src.size}.at(dst.off, src.off)
}

// block is where the block of member i is in the whole.
func (c *collection) block(i int) (lo, hi int) {
	if c.starts == nil {
		return i * c.each, (i + 1) * c.each
	}
	return int(c.starts[i]), int(c.starts[i+1])
}

func (c *collection) fcollect(ctx context.Context) error {
	if c.sum == 0 {
		return nil
	}
	var err error
	if len(c.l.hosts) == 1 {
		err = c.fcollectHere(ctx)
	} else {
		err = c.between(ctx, c.g.mine(c.src, c.n), c.g.mine(c.dst, c.sum))
	}
	return c.wrap(err)
}

func (c *collection) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", c.call.kind, c.g.name, atSite(), err)
	}
	return nil
}

// fcollectHere is FCollect on one host.
func (c *collection) fcollectHere(ctx context.Context) error {
	g, l := c.g, c.l
	s := showing(c.each, c.src, g.stagedMax())
	e, err := g.enter(ctx, c.call, s.boxes())
	if err != nil {
		return err
	}
	defer g.leave()
	s.x = g.box(s.boxes())
	if s.way != lent {
		copy(g.place(&s, e), g.mine(c.src, c.n))
	}
	met, err := g.come(ctx, l, e)
	if err != nil {
		return err
	}
	dst := g.mine(c.dst, c.sum)
	for d := range l.here {
		k := (l.rank + d) % len(l.here)
		if _, err := g.entryHere(ctx, l, k, met); err != nil {
			return err
		}
		lo, hi := c.block(l.here[k])
		move(dst[lo:hi], g.shown(l, &s, k))
	}
	g.entered()
	if s.way == lent {
		return g.meet(ctx, call{kind: kindSync})
	}
	return nil
}

func (c *collection) collect(ctx context.Context) error {
	if c.call.size == 0 {
		return nil
	}
	if len(c.l.hosts) == 1 {
		return c.wrap(c.collectHere(ctx))
	}
	if err := c.collectSizes(ctx); err != nil {
		return c.wrap(err)
	}
	if c.sum == 0 {
		return nil
	}
	c.mustFit(c.sum)
	c.call.count = uint64(c.sum / c.call.size)
	return c.wrap(c.between(ctx, c.g.mine(c.src, c.n), c.g.mine(c.dst, c.sum)))
}

// mustFit panics if dst has no room for n bytes.
func (c *collection) mustFit(n int) {
	if n > c.room {
		c.g.misuse("Collect", "the members have %d elements or more together, and dst has %d", n/c.call.size, c.room/c.call.size)
	}
}

// collectHere is Collect on one host. An entry starts with the length of the block; then comes the block,
// if it fits.
func (c *collection) collectHere(ctx context.Context) error {
	g, l := c.g, c.l
	e, err := g.enter(ctx, c.call, 0)
	if err != nil {
		return err
	}
	defer g.leave()
	binary.NativeEndian.PutUint64(e.data[:], uint64(c.n))
	if c.n <= inlineBytes-8 {
		copy(e.data[8:], g.mine(c.src, c.n))
	}
	met, err := g.come(ctx, l, e)
	if err != nil {
		return err
	}
	dst, lends := g.mine(c.dst, c.room), false
	for k, i := range l.here {
		other, err := g.entryHere(ctx, l, k, met)
		if err != nil {
			return err
		}
		n := int(binary.NativeEndian.Uint64(other.data[:]))
		c.mustFit(c.sum + n)
		if n <= inlineBytes-8 {
			copy(dst[c.sum:], other.data[8:][:n])
		} else {
			lends = true
			move(dst[c.sum:][:n], g.theirs(i, c.src, n))
		}
		c.sum += n
	}
	g.entered()
	if lends {
		return g.meet(ctx, call{kind: kindSync})
	}
	return nil
}

// collectSizes finds out how long everybody's block is.
func (c *collection) collectSizes(ctx context.Context) error {
	n := len(c.g.pes)
	c.starts = elements[uint64](grown(&c.g.turns.result, (n+1)*8), n+1)
	ends := c.starts[1:]
	var own [8]byte
	binary.NativeEndian.PutUint64(own[:], uint64(c.n))
	sizes := collection{g: c.g, l: c.l, call: c.call, each: 8, sum: 8 * n}
	var err error
	if sizes.sum <= maxMessage {
		err = sizes.between(ctx, own[:], asBytes(ends))
	} else {
		err = sizes.oneByOne(ctx, own[:], asBytes(ends))
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

// oneByOne is between for more members than a message has words: each fetches everybody's block.
func (c *collection) oneByOne(ctx context.Context, own, all []byte) error {
	g := c.g
	e, err := g.enter(ctx, c.call, 0)
	if err != nil {
		return err
	}
	defer g.leave()
	copy(e.data[:], own)
	if err := g.meetIn(ctx, e); err != nil {
		return err
	}
	for i, pe := range g.pes {
		lo, hi := c.block(i)
		g.n.channel(pe).GetNB(pe, all[lo:hi], uint64(slotOff(g.slot)+entryOff(g.turns.n)+dataOff))
	}
	return g.flush()
}

// between is the collect between hosts: own is this PE's block, all becomes the whole.
func (c *collection) between(ctx context.Context, own, all []byte) error {
	g, l := c.g, c.l
	way := g.collectAlgorithm(c.opts, c.call.kind, len(l.hosts), c.sum)
	signals := collectSignals(way, len(l.hosts))
	room := boxesFor(c.sum)
	small := room+signals <= mostBoxes
	if !small {
		room = 0
	}
	e, err := g.enter(ctx, c.call, room+signals)
	if err != nil {
		return err
	}
	defer g.leave()
	if c.whole = c.dst; small {
		c.whole = g.boxOff(g.box(room))
	}
	x := g.box(signals)
	if len(own) <= inlineBytes {
		copy(e.data[:], own)
	}
	read := g.readBy()
	if small {
		err = g.publish(e)
	} else {
		err = g.meetIn(ctx, e)
	}
	if err != nil {
		return err
	}
	if !l.lead() {
		return c.fromLeader(ctx, all, small)
	}
	if err := c.gather(ctx); err != nil {
		return err
	}
	if err := c.amongLeaders(ctx, way, x); err != nil {
		return err
	}
	g.entered()
	g.ready()
	if small {
		copy(all, g.mine(c.whole, c.sum))
		return nil
	}
	return g.awaitReaders(ctx, read, len(l.here)-1)
}

// fromLeader copies the whole from the leader of this host.
func (c *collection) fromLeader(ctx context.Context, all []byte, small bool) error {
	if err := c.g.awaitReady(ctx, c.l, 0); err != nil {
		return err
	}
	move(all, c.g.theirs(c.l.here[0], c.whole, c.sum))
	c.g.entered()
	if !small {
		c.g.haveRead(c.l, 0)
	}
	return nil
}

// gather is how a leader takes the blocks of its host. Members that lend theirs wait until the leader is
// ready anyway.
func (c *collection) gather(ctx context.Context) error {
	for k, i := range c.l.here {
		e, err := c.g.awaitEntry(ctx, c.l, k)
		if err != nil {
			return err
		}
		lo, hi := c.block(i)
		from := e.data[:]
		if hi-lo > inlineBytes {
			from = c.g.theirs(i, c.src, hi-lo)
		}
		move(c.g.mine(c.whole+uintptr(lo), hi-lo), from[:hi-lo])
	}
	return nil
}

// collectSignals is how many boxes the leaders need to tell each other what has come.
func collectSignals(way algorithm, hosts int) int {
	switch way {
	case linear:
		return hosts
	case ring:
		return hosts - 1
	}
	return bits.Len(uint(hosts - 1))
}

// doublingCollectMax is up to how many bytes in all the number of trips is what a collect between many
// hosts costs. From there on Ring moves each byte over each wire once, and nobody waits for a far host.
const doublingCollectMax = 16 << 10

// collectAlgorithm returns the algorithm between hosts that together collect so many bytes.
func (g *Group) collectAlgorithm(o options, k kind, hosts, bytes int) algorithm {
	switch o.algorithm {
	case auto:
		switch {
		case hosts <= fewHosts:
			return linear
		case bytes > doublingCollectMax && hosts <= mostBoxes:
			return ring
		}
		return doubling
	case linear, ring:
		if hosts > mostBoxes {
			g.misuse(k.String(), "%s does %d hosts at most, and there are %d: use Doubling", o.algorithm, mostBoxes, hosts)
		}
	}
	return o.algorithm
}

// amongLeaders completes the wholes of the leaders, each of which has the blocks of its own host.
func (c *collection) amongLeaders(ctx context.Context, way algorithm, x box) error {
	n, me := len(c.l.hosts), c.l.host
	switch way {
	case linear:
		for d := 1; d < n; d++ {
			c.send((me+d)%n, me, 1, x+box(me))
		}
		for d := 1; d < n; d++ {
			if err := c.await(ctx, (me-d+n)%n, x+box((me-d+n)%n)); err != nil {
				return err
			}
		}
	case ring:
		for d := range n - 1 {
			c.send((me+1)%n, (me-d+n)%n, 1, x+box(d))
			if err := c.await(ctx, (me-1+n)%n, x+box(d)); err != nil {
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

// await waits until the leader of a host has filled box x.
func (c *collection) await(ctx context.Context, host int, x box) error {
	return c.g.awaitBox(ctx, x, c.l.hosts[host][0])
}

// send gives the leader of host to the blocks of count hosts from the first on, and fills box x there when
// they have come. What is in a row goes in one piece.
func (c *collection) send(to, first, count int, x box) {
	g, pe := c.g, c.g.pes[c.l.hosts[to][0]]
	via := g.n.channel(pe)
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
					via.Put(pe, uint64(c.whole)+uint64(lo), g.mine(c.whole+uintptr(lo), hi-lo))
					pieces++
				}
				lo, hi = from, end
			}
		}
	}
	if pieces > 1 {
		via.Fence(pe)
	}
	g.sendTo(c.l.hosts[to][0], x, uint64(c.whole)+uint64(lo), g.mine(c.whole+uintptr(lo), hi-lo))
}
