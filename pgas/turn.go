package pgas

// The calls of a team. Every collective of a team has a number, the same on all members because all make
// the same calls, and a tag: the number and a digest of what was called with which arguments. A member
// enters a call by leaving an entry with that tag in its slot. Whoever waits for it looks at the tag, and
// so finds out in passing, at no cost, if the members are not in the same call (mismatch.go).
//
// Entries alternate between a few places, and so do the boxes that members on other hosts fill. Before
// one is used again everybody must be through with its last use. A call which nobody leaves before all
// have entered (a meeting, a reduction) proves that for all calls before it; other calls (a broadcast:
// its root waits for nobody) can only use as many places as there are before a meeting is due. But who has
// got a broadcast knows that its root has entered it, so broadcasts whose roots go round prove the same.
// Which calls meet depends on what is called only, so all members agree on when one is due.

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// kind says what a call is.
type kind uint8

const (
	kindNone kind = iota
	kindSync
	kindSplit
	kindAgree // allocation and the like
	kindBroadcast
	kindCollect
	kindFCollect
	kindAllToAll
	kindAllToAllS
	kindAllToAllV
	kindReduce
	kindInscan
	kindExscan
	kindClose
	numKinds
)

var kindNames = [numKinds]string{"nothing yet", "sync", "split", "allocation", "broadcast", "collect", "fcollect",
	"alltoall", "alltoalls", "alltoallv", "reduction", "inclusive scan", "exclusive scan", "close"}

func (k kind) String() string { return kindNames[k] }

// A call is what a member asks for. What is in it must be the same on every member.
type call struct {
	kind  kind
	op    uint8  // the operator of a reduction, the way of a split, the algorithm forced by the caller
	root  int    // or 0
	size  int    // bytes of an element
	count uint64 // elements, or 0 where members may differ
	where uint64 // digest of the symmetric ranges that it concerns: see at
}

// at is c for the ranges that start at offsets dst and src.
func (c call) at(dst, src uintptr) call {
	c.where = uint64(dst)<<32 ^ uint64(dst)>>32 ^ uint64(src)
	return c
}

// word packs most of c as it stands in an entry.
func (c call) word() uint64 {
	return uint64(c.kind) | uint64(c.op)<<8 | uint64(c.root)<<16 | uint64(c.size)<<40
}

func unpackCall(w, count, where uint64) call {
	k := kind(w & 0xff)
	if k >= numKinds {
		k = kindNone
	}
	return call{k, uint8(w >> 8), int(w >> 16 & 0xffffff), int(w >> 40), count, where}
}

const (
	tagBits   = 16
	poisoned  = 1<<tagBits - 1 // the digest of a call that did not fit the others', or was given up by its owner
	cancelled = poisoned - 1   // the digest of a call that another member has given up
)

// tagOf is the tag of call n.
func tagOf(n uint64, c call) uint64 {
	h := (c.word() ^ (c.count+c.where*0xff51afd7ed558ccd)*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return n<<tagBits | (h>>40)%cancelled
}

// turns is where a member stands in the calls of its team. One goroutine at a time uses it: the one whose
// turn it is.
type turns struct {
	last atomic.Pointer[request] // of the non-blocking calls that were made; nil if none ever was
	busy atomic.Bool             // a call is under way: for a message, not for exclusion

	n      uint64 // of the last call
	met    uint64 // all members have entered this call, so all are through with those before it
	boxes  uint64 // boxes that calls have reserved, the one under way included
	proven uint64 // boxes that are free again: those reserved before call met
	broken error  // the members are not in step any more

	led    [generations]uint64 // by member, if they are so few: the last call that proves that it has entered it
	starts [generations]uint64 // boxes when the last calls began

	// Of the call under way:
	tag     uint64
	before  uint64  // boxes when it began
	nextBox box     // the next of its boxes to be taken
	bits    *bitsOf // of a meeting that compares what its members bring: see alike.go
	meeting box     // the first of those for its meeting

	lookTag             uint64 // the call that somebody waits in for long
	lookSince, nextLook time.Time

	scratch, result []uint64 // buffers, kept from call to call
}

// mostBoxes is how many boxes one call may reserve besides those of its meeting: less than half of them,
// since a reservation has no wrap in it and may skip as many.
const mostBoxes = numBoxes/2 - 16

// enter begins a call: it waits for its turn, reserves an entry and k boxes (mostBoxes at most; the same
// number on every member), and fills in the entry, which publish shows to the others. leave must follow,
// unless it fails. Within the call there may be one meeting (meetIn).
func (g *Group) enter(ctx context.Context, c call, k int) (*entry, error) {
	if err := g.takeTurn(ctx, c); err != nil {
		return nil, err
	}
	if g.due(k) {
		if g.follow(); g.due(k) {
			if err := g.meet(ctx, call{kind: kindSync}); err != nil {
				g.leave()
				return nil, err
			}
		}
	}
	return g.next(c, k), nil
}

// due reports whether all must be known to be through with old calls before a call with k boxes.
func (g *Group) due(k int) bool {
	u := &g.turns
	return u.n+1-u.met >= generations || u.used(k+g.rounds()) > numBoxes-2*g.rounds()
}

// leads notes that whoever returns from the call under way knows that member pe has entered it.
func (g *Group) leads(pe int) {
	if pe < generations {
		g.turns.led[pe] = g.turns.n
	}
}

// follow finds out which call all members have entered as calls since have proved, each for one member.
func (g *Group) follow() {
	u := &g.turns
	if len(g.pes) > generations {
		return
	}
	all := u.n
	for _, n := range u.led[:len(g.pes)] {
		all = min(all, n)
	}
	if all > u.met && u.n-all < generations {
		u.met, u.proven = all, u.starts[all%generations]
	}
}

// used is how many boxes would be in use with k more.
func (u *turns) used(k int) int { return int(u.boxes + u.skip(k) + uint64(k) - u.proven) }

// skip is how many boxes are left unused so that the next k have no wrap in them.
func (u *turns) skip(k int) uint64 {
	if at := u.boxes % numBoxes; at+uint64(k) > numBoxes {
		return numBoxes - at
	}
	return 0
}

// rounds is how many boxes a meeting takes: one for each of its rounds between hosts.
func (g *Group) rounds() int { return bits.Len(uint(len(g.hosts) - 1)) }

// next begins the call after the last one, with k boxes and those for a meeting.
func (g *Group) next(c call, k int) *entry {
	u := &g.turns
	u.n++
	u.tag = tagOf(u.n, c)
	u.before = u.boxes
	u.starts[u.n%generations] = u.before
	u.nextBox = box(u.boxes + u.skip(k+g.rounds()))
	u.meeting = u.nextBox + box(k)
	u.boxes = uint64(u.meeting) + uint64(g.rounds())
	e := g.board.entry(u.n)
	e.call, e.count, e.where = c.word(), c.count, c.where
	return e
}

// publish does stamp's work and wakes the members of this host that wait for the entry.
func (g *Group) publish(e *entry) error {
	if err := g.stamp(e); err != nil {
		return err
	}
	g.ringLocal()
	return nil
}

// ringLocal wakes the members of this host that sleep in a call.
func (g *Group) ringLocal() {
	for _, i := range g.here {
		if i != g.me {
			g.n.stateOf(g.pes[i]).Ring(boot.BarrierWord)
		}
	}
}

// entered notes that all members have entered the call under way.
func (g *Group) entered() { g.turns.met, g.turns.proven = g.turns.n, g.turns.before }

// leave ends a call.
func (g *Group) leave() { g.turns.busy.Store(false) }

// awaitEntry waits until member number k of this host has entered the call under way, and returns its
// entry, with everything that it stored before.
func (g *Group) awaitEntry(ctx context.Context, l *layout, k int) (*entry, error) {
	e := l.local[k].entry(g.turns.n)
	return e, g.awaitTag(ctx, &e.tag, l.here[k])
}

// meetLocal publishes e and waits until all members of this host have entered the call.
func (g *Group) meetLocal(ctx context.Context, l *layout, e *entry) error {
	if err := g.publish(e); err != nil {
		return err
	}
	for k := range l.local {
		if _, err := g.awaitEntry(ctx, l, k); err != nil {
			return err
		}
	}
	return nil
}

// ready tells the members of this host that the first half of this PE's work in the call is over; what it
// stored before is there.
func (g *Group) ready() {
	g.board.control().ready.Store(g.turns.tag)
	g.ringLocal()
}

// awaitReady waits for member number k of this host to be ready.
func (g *Group) awaitReady(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].control().ready, l.here[k])
}

// done tells the members of this host that this PE is through with their memory.
func (g *Group) done() {
	g.board.control().done.Store(g.turns.tag)
	g.ringLocal()
}

// awaitDone waits until member number k of this host is through with others' memory.
func (g *Group) awaitDone(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].control().done, l.here[k])
}

// awaitRelease waits until the leader of this host lets this PE go on. The word is in this PE's own heap:
// while it waits for one of those it can serve other hosts.
func (g *Group) awaitRelease(ctx context.Context, l *layout) error {
	return g.awaitOwn(ctx, slotOff(g.slot)+controlOff+releasedOff, l.here[0])
}

// releaseLocal is how a leader lets the members of its host go on.
func (g *Group) releaseLocal(l *layout) {
	for k, i := range l.here {
		if i != g.me {
			l.local[k].control().released.Store(g.turns.tag)
			g.n.stateOf(g.pes[i]).Ring(uint64(slotOff(g.slot) + controlOff + releasedOff))
		}
	}
}

// awaitTag waits until *p is the tag of the call under way; pe is the member that writes it.
func (g *Group) awaitTag(ctx context.Context, p *atomic.Uint64, pe int) error {
	want := g.turns.tag
	v := p.Load()
	if v>>tagBits < want>>tagBits {
		c := atLeast(p, want&^poisoned)
		c.party = g
		var err error
		if v, err = g.await(ctx, c, g.waitingFor(pe)); err != nil {
			return err
		}
	}
	return g.checkTag(v)
}

// checkTag makes sure that a tag which has come belongs to the call under way, or to a later one of a
// member that needed nobody to get there.
func (g *Group) checkTag(v uint64) error {
	if v != g.turns.tag && v>>tagBits == g.turns.n {
		return g.outOfStep()
	}
	return nil
}

// waitingFor is what a wait for member pe shows to others.
func (g *Group) waitingFor(pe int) blockedIn {
	op := boot.InCollective
	switch kind(g.board.entry(g.turns.n).call & 0xff) {
	case kindSync:
		op = boot.InBarrier
	case kindClose:
		op = boot.InClose
	}
	return blockedIn{op: op, peer: g.pes[pe], seq: g.turns.n, party: g}
}
