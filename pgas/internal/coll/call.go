package coll

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
)

// callKind says what a call is.
type Kind uint8

const (
	kindNone Kind = iota
	KindSync
	kindSplit
	KindAgree // allocation and the like
	kindBroadcast
	KindCollect
	kindFCollect
	kindAllToAll
	kindAllToAllS
	kindAllToAllV
	kindReduce
	KindInscan
	KindExscan
	KindClose
	numKinds
)

var kindNames = [numKinds]string{"nothing yet", "sync", "split", "allocation", "broadcast", "collect", "fcollect",
	"alltoall", "alltoalls", "alltoallv", "reduction", "inclusive scan", "exclusive scan", "close"}

func (k Kind) String() string { return kindNames[k] }

// A call is what a member asks for. What is in it must be the same on every member.
type Call struct {
	Kind       Kind
	op         uint8  // the operator of a reduction, the way of a split, the algorithm forced by the caller
	root       int    // or 0
	Size       int    // bytes of an element
	count      uint64 // elements, or 0 where members may differ
	bufferHash uint64 // digest of the symmetric ranges that it concerns: see at
}

// withBuffers is c for the ranges that start at offsets dst and src.
func (c Call) withBuffers(dst, src uintptr) Call {
	c.bufferHash = uint64(dst)<<32 ^ uint64(dst)>>32 ^ uint64(src)
	return c
}

// word packs most of c as it stands in an entry.
func (c Call) word() uint64 {
	return uint64(c.Kind) | uint64(c.op)<<8 | uint64(c.root)<<16 | uint64(c.Size)<<40
}

func unpackCall(w, count, where uint64) Call {
	k := Kind(w & 0xff)
	if k >= numKinds {
		k = kindNone
	}
	return Call{k, uint8(w >> 8), int(w >> 16 & 0xffffff), int(w >> 40), count, where}
}

const (
	tagBits   = 16
	poisoned  = 1<<tagBits - 1 // the digest of a call that did not fit the others', or was given up by its owner
	cancelled = poisoned - 1   // the digest of a call that another member has given up
)

// tagOf is the tag of call n.
func tagOf(n uint64, c Call) uint64 {
	h := (c.word() ^ (c.count+c.bufferHash*0xff51afd7ed558ccd)*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return n<<tagBits | (h>>40)%cancelled
}

// callState is where a member stands in the calls of its team. One goroutine at a time uses it: the one whose
// turn it is.
type callState struct {
	last atomic.Pointer[Request] // of the non-blocking calls that were made; nil if none ever was
	busy atomic.Bool             // a call is under way: for a message, not for exclusion

	n              uint64 // of the last call
	syncedCall     uint64 // all members have entered this call, so all are through with those before it
	usedMailboxes  uint64 // boxes that calls have reserved, the one under way included
	freedMailboxes uint64 // boxes that are free again: those reserved before call met
	failed         error  // the members are not in step any more

	lastRootCall [slotArrivals]uint64 // by member, if they are so few: the last call that proves that it has entered it
	starts       [slotArrivals]uint64 // boxes when the last calls began

	// Of the call under way:
	tag             uint64
	mailboxesBefore uint64    // boxes when it began
	nextMailbox     mailbox   // the next of its boxes to be taken
	digests         *digestOr // of a meeting that compares what its members bring: see alike.go
	syncMailboxes   mailbox   // the first of those for its meeting

	watchedTag              uint64 // the call that somebody waits in for long
	watchedSince, nextCheck time.Time

	scratch, result []uint64 // buffers, kept from call to call
}

// maxMailboxes is how many boxes one call may reserve besides those of its meeting: less than half of them,
// since a reservation has no wrap in it and may skip as many.
const maxMailboxes = numMailboxes/2 - 16

// begin begins a call: it waits for its turn, reserves an entry and k boxes (maxMailboxes at most; the same
// number on every member), and fills in the entry, which publish shows to the others. leave must follow,
// unless it fails. Within the call there may be one meeting (barrierIn).
func (g *Group) begin(ctx context.Context, c Call, k int) (*arrival, error) {
	if err := g.takeTurn(ctx, c); err != nil {
		return nil, err
	}
	if g.mustSync(k) {
		if g.advanceSynced(); g.mustSync(k) {
			if err := g.barrier(ctx, Call{Kind: KindSync}); err != nil {
				g.end()
				return nil, err
			}
		}
	}
	return g.advance(c, k), nil
}

// mustSync reports whether all must be known to be through with old calls before a call with k boxes.
func (g *Group) mustSync(k int) bool {
	u := &g.calls
	return u.n+1-u.syncedCall >= slotArrivals || u.used(k+g.rounds()) > numMailboxes-2*g.rounds()
}

// noteRoot notes that whoever returns from the call under way knows that member pe has entered it.
func (g *Group) noteRoot(pe int) {
	if pe < slotArrivals {
		g.calls.lastRootCall[pe] = g.calls.n
	}
}

// advanceSynced finds out which call all members have entered as calls since have proved, each for one member.
func (g *Group) advanceSynced() {
	u := &g.calls
	if len(g.PEs) > slotArrivals {
		return
	}
	all := u.n
	for _, n := range u.lastRootCall[:len(g.PEs)] {
		all = min(all, n)
	}
	if all > u.syncedCall && u.n-all < slotArrivals {
		u.syncedCall, u.freedMailboxes = all, u.starts[all%slotArrivals]
	}
}

// used is how many boxes would be in use with k more.
func (u *callState) used(k int) int {
	return int(u.usedMailboxes + u.skip(k) + uint64(k) - u.freedMailboxes)
}

// skip is how many boxes are left unused so that the next k have no wrap in them.
func (u *callState) skip(k int) uint64 {
	if at := u.usedMailboxes % numMailboxes; at+uint64(k) > numMailboxes {
		return numMailboxes - at
	}
	return 0
}

// rounds is how many boxes a meeting takes: one for each of its rounds between hosts.
func (g *Group) rounds() int { return bits.Len(uint(len(g.hosts) - 1)) }

// advance begins the call after the last one, with k boxes and those for a meeting.
func (g *Group) advance(c Call, k int) *arrival {
	u := &g.calls
	u.n++
	u.tag = tagOf(u.n, c)
	u.mailboxesBefore = u.usedMailboxes
	u.starts[u.n%slotArrivals] = u.mailboxesBefore
	u.nextMailbox = mailbox(u.usedMailboxes + u.skip(k+g.rounds()))
	u.syncMailboxes = u.nextMailbox + mailbox(k)
	u.usedMailboxes = uint64(u.syncMailboxes) + uint64(g.rounds())
	e := g.view.arrival(u.n)
	e.call, e.count, e.bufferHash = c.word(), c.count, c.bufferHash
	return e
}

// noteAllArrived notes that all members have entered the call under way.
func (g *Group) noteAllArrived() {
	g.calls.syncedCall, g.calls.freedMailboxes = g.calls.n, g.calls.mailboxesBefore
}

// end ends a call.
func (g *Group) end() { g.calls.busy.Store(false) }
