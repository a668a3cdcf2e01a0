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

// FCollect sets dst on every member to the concatenation of src of all members, in the order of the team
// (OpenSHMEM 1.6, shmem_fcollect).
//
// src has the same length on all members, and dst room for as many times that as there are members. Both
// are the same ranges on all members and must not overlap. When FCollect returns, dst is complete on this
// PE, and src may be reused; nothing is said about other members. dst is written only while its owner is
// in the call: no barrier is needed before it.
//
// All members must call it with the same arguments; when they do not, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then. The
// algorithms are Linear, Ring and Doubling.
func FCollect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var c collection
	c.prepareF(t, rawOf(dst), rawOf(src), opts)
	return c.fcollect(ctx)
}

// FCollectNB starts FCollect. Until the Request is complete, dst and src belong to it.
func FCollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var c collection
	c.prepareF(t, rawOf(dst), rawOf(src), opts)
	return t.start(ctx, c.fcollect)
}

// Collect is FCollect where src may have a different length on each member, and may be empty. It returns
// the number of elements that all members have contributed together; dst must have room for them
// (OpenSHMEM 1.6, shmem_collect).
func Collect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) (n int, err error) {
	var c collection
	c.prepare(t, rawOf(dst), rawOf(src), opts)
	err = c.collect(ctx)
	return c.sum / max(1, c.call.size), err
}

// CollectNB starts Collect. Until the Request is complete, dst and src belong to it, and so does *n unless
// n is nil: it becomes the number of elements.
func CollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], n *int, opts ...CollectiveOption) *Request {
	var c collection
	c.prepare(t, rawOf(dst), rawOf(src), opts)
	return t.start(ctx, func(ctx context.Context) error {
		err := c.collect(ctx)
		if n != nil {
			*n = c.sum / max(1, c.call.size)
		}
		return err
	})
}

// A collection is a collect under way.
type collection struct {
	t      *Team
	l      *layout
	opts   collectiveOptions
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
func (c *collection) prepareF(t *Team, dst, src raw, opts []CollectiveOption) {
	c.fill(kindFCollect, t, dst, src, opts)
	c.each, c.sum = c.n, c.n*len(t.pes)
	c.call.count = uint64(src.n)
	checkFits("FCollect", len(t.pes)*src.n, dst.n)
	checkApart(kindFCollect, dst, c.sum, src, c.n)
}

// prepare does it for a Collect.
func (c *collection) prepare(t *Team, dst, src raw, opts []CollectiveOption) {
	c.fill(kindCollect, t, dst, src, opts)
	checkApart(kindCollect, dst, c.room, src, c.n)
}

func (c *collection) fill(k kind, t *Team, dst, src raw, opts []CollectiveOption) {
	t.checkRanges(k, dst, src)
	o := optionsOf(opts)
	if o.algorithm == Tree {
		misuse(k.String(), "there is no %s %s: use Linear, Ring or Doubling", o.algorithm, k)
	}
	c.t, c.l, c.opts = t, t.layoutFor(o), o
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
	given(c.call.kind.String(), ctx)
	if c.sum == 0 {
		return nil
	}
	var err error
	if len(c.l.hosts) == 1 {
		err = c.fcollectHere(ctx)
	} else {
		err = c.between(ctx, c.t.mine(c.src, c.n), c.t.mine(c.dst, c.sum))
	}
	return c.wrap(err)
}

func (c *collection) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", c.call.kind, c.t.name, atSite(), err)
	}
	return nil
}

// fcollectHere is FCollect on one host.
func (c *collection) fcollectHere(ctx context.Context) error {
	t, l := c.t, c.l
	s := showing(c.each, c.src, t.stagedMax())
	e, err := t.enter(ctx, c.call, s.boxes())
	if err != nil {
		return err
	}
	defer t.leave()
	s.x = t.box(s.boxes())
	if s.way != lent {
		copy(t.place(&s, e), t.mine(c.src, c.n))
	}
	met, err := t.come(ctx, l, e)
	if err != nil {
		return err
	}
	dst := t.mine(c.dst, c.sum)
	for d := range l.here {
		k := (l.rank + d) % len(l.here)
		if _, err := t.entryHere(ctx, l, k, met); err != nil {
			return err
		}
		lo, hi := c.block(l.here[k])
		move(dst[lo:hi], t.shown(l, &s, k))
	}
	t.entered()
	if s.way == lent {
		return t.meet(ctx, call{kind: kindSync})
	}
	return nil
}

func (c *collection) collect(ctx context.Context) error {
	given(c.call.kind.String(), ctx)
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
	return c.wrap(c.between(ctx, c.t.mine(c.src, c.n), c.t.mine(c.dst, c.sum)))
}

// mustFit panics if dst has no room for n bytes.
func (c *collection) mustFit(n int) {
	if n > c.room {
		misuse("Collect", "the members have %d elements or more together, and dst has %d", n/c.call.size, c.room/c.call.size)
	}
}

// collectHere is Collect on one host. An entry starts with the length of the block; then comes the block,
// if it fits.
func (c *collection) collectHere(ctx context.Context) error {
	t, l := c.t, c.l
	e, err := t.enter(ctx, c.call, 0)
	if err != nil {
		return err
	}
	defer t.leave()
	binary.NativeEndian.PutUint64(e.data[:], uint64(c.n))
	if c.n <= inlineBytes-8 {
		copy(e.data[8:], t.mine(c.src, c.n))
	}
	met, err := t.come(ctx, l, e)
	if err != nil {
		return err
	}
	dst, lends := t.mine(c.dst, c.room), false
	for k, i := range l.here {
		other, err := t.entryHere(ctx, l, k, met)
		if err != nil {
			return err
		}
		n := int(binary.NativeEndian.Uint64(other.data[:]))
		c.mustFit(c.sum + n)
		if n <= inlineBytes-8 {
			copy(dst[c.sum:], other.data[8:][:n])
		} else {
			lends = true
			move(dst[c.sum:][:n], t.theirs(i, c.src, n))
		}
		c.sum += n
	}
	t.entered()
	if lends {
		return t.meet(ctx, call{kind: kindSync})
	}
	return nil
}

// collectSizes finds out how long everybody's block is.
func (c *collection) collectSizes(ctx context.Context) error {
	n := len(c.t.pes)
	c.starts = elements[uint64](grown(&c.t.turns.result, (n+1)*8), n+1)
	ends := c.starts[1:]
	var own [8]byte
	binary.NativeEndian.PutUint64(own[:], uint64(c.n))
	sizes := collection{t: c.t, l: c.l, call: c.call, each: 8, sum: 8 * n}
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
	t := c.t
	e, err := t.enter(ctx, c.call, 0)
	if err != nil {
		return err
	}
	defer t.leave()
	copy(e.data[:], own)
	if err := t.meetIn(ctx, e); err != nil {
		return err
	}
	for i, pe := range t.pes {
		lo, hi := c.block(i)
		t.w.n.channel(pe).GetNB(pe, all[lo:hi], uint64(slotOff(t.slot)+entryOff(t.turns.n)+dataOff))
	}
	return t.flush()
}

// between is the collect between hosts: own is this PE's block, all becomes the whole.
func (c *collection) between(ctx context.Context, own, all []byte) error {
	t, l := c.t, c.l
	way := c.opts.forCollect(c.call.kind, len(l.hosts), c.sum)
	signals := collectSignals(way, len(l.hosts))
	room := boxesFor(c.sum)
	small := room+signals <= mostBoxes
	if !small {
		room = 0
	}
	e, err := t.enter(ctx, c.call, room+signals)
	if err != nil {
		return err
	}
	defer t.leave()
	if c.whole = c.dst; small {
		c.whole = t.boxOff(t.box(room))
	}
	x := t.box(signals)
	if len(own) <= inlineBytes {
		copy(e.data[:], own)
	}
	read := t.readBy()
	if small {
		err = t.publish(e)
	} else {
		err = t.meetIn(ctx, e)
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
	t.entered()
	t.ready()
	if small {
		copy(all, t.mine(c.whole, c.sum))
		return nil
	}
	return t.awaitReaders(ctx, read, len(l.here)-1)
}

// fromLeader copies the whole from the leader of this host.
func (c *collection) fromLeader(ctx context.Context, all []byte, small bool) error {
	if err := c.t.awaitReady(ctx, c.l, 0); err != nil {
		return err
	}
	move(all, c.t.theirs(c.l.here[0], c.whole, c.sum))
	c.t.entered()
	if !small {
		c.t.haveRead(c.l, 0)
	}
	return nil
}

// gather is how a leader takes the blocks of its host. Members that lend theirs wait until the leader is
// ready anyway.
func (c *collection) gather(ctx context.Context) error {
	for k, i := range c.l.here {
		e, err := c.t.awaitEntry(ctx, c.l, k)
		if err != nil {
			return err
		}
		lo, hi := c.block(i)
		from := e.data[:]
		if hi-lo > inlineBytes {
			from = c.t.theirs(i, c.src, hi-lo)
		}
		move(c.t.mine(c.whole+uintptr(lo), hi-lo), from[:hi-lo])
	}
	return nil
}

// collectSignals is how many boxes the leaders need to tell each other what has come.
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
// hosts costs. From there on Ring moves each byte over each wire once, and nobody waits for a far host.
const doublingCollectMax = 16 << 10

// forCollect is the algorithm between hosts that together collect so many bytes.
func (o collectiveOptions) forCollect(k kind, hosts, bytes int) Algorithm {
	switch o.algorithm {
	case Auto:
		switch {
		case hosts <= fewHosts:
			return Linear
		case bytes > doublingCollectMax && hosts <= mostBoxes:
			return Ring
		}
		return Doubling
	case Linear, Ring:
		if hosts > mostBoxes {
			misuse(k.String(), "%s does %d hosts at most, and there are %d: use Doubling", o.algorithm, mostBoxes, hosts)
		}
	}
	return o.algorithm
}

// amongLeaders completes the wholes of the leaders, each of which has the blocks of its own host.
func (c *collection) amongLeaders(ctx context.Context, way Algorithm, x box) error {
	n, me := len(c.l.hosts), c.l.host
	switch way {
	case Linear:
		for d := 1; d < n; d++ {
			c.send((me+d)%n, me, 1, x+box(me))
		}
		for d := 1; d < n; d++ {
			if err := c.await(ctx, (me-d+n)%n, x+box((me-d+n)%n)); err != nil {
				return err
			}
		}
	case Ring:
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
	return c.t.awaitBox(ctx, x, c.l.hosts[host][0])
}

// send gives the leader of host to the blocks of count hosts from the first on, and fills box x there when
// they have come. What is in a row goes in one piece.
func (c *collection) send(to, first, count int, x box) {
	t, pe := c.t, c.t.pes[c.l.hosts[to][0]]
	via := t.w.n.channel(pe)
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
					via.Put(pe, uint64(c.whole)+uint64(lo), t.mine(c.whole+uintptr(lo), hi-lo))
					pieces++
				}
				lo, hi = from, end
			}
		}
	}
	if pieces > 1 {
		via.Fence(pe)
	}
	t.sendTo(c.l.hosts[to][0], x, uint64(c.whole)+uint64(lo), t.mine(c.whole+uintptr(lo), hi-lo))
}
