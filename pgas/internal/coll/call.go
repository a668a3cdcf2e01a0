package coll

// The calls of a team. Every collective of a team has a number, the same on all members because all make
// the same calls, and a tag: the number and a digest of what was called with which arguments. A member
// enters a call by publishing an arrival record with that tag in its slot. A waiter reads the tag anyway, and
// so finds out at no cost if the members are not in the same call (mismatch.go).
//
// A slot has a few arrival records, used in turn, and so are the mailboxes that members on other hosts fill.
// Before one is used again, all members must be through with its last use. A call that no member leaves before
// all have entered (a barrier, a reduction) proves that for all calls before it. Other calls (a broadcast, whose
// root waits for no member) can use only as many records as there are before a barrier is due. But a receiver of
// a broadcast knows that its root has entered it, so broadcasts whose roots alternate prove the same. Which
// calls synchronize depends on what is called only, so all members agree on when a barrier is due.
//
// The digest in a tag is of the member's calls so far, and not of the last one alone. In a broadcast a root waits for
// no member: if two members both take themselves for the root, no wait of that call finds out. The next wait of any
// call does, and the records of earlier calls are still there to tell in which one the members differ.

import (
	"math/bits"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// mustSync reports whether all members must be known to be through with old calls before a call with k mailboxes.
func (g *Group) mustSync(k int) bool {
	u := &g.calls
	return u.n+1-u.syncedCall >= slotArrivals || u.used(k+g.rounds()) > numMailboxes-2*g.rounds()
}

// noteRoot notes that every member that returns from the call under way knows that member pe has entered it.
func (g *Group) noteRoot(pe int) {
	if pe < slotArrivals {
		g.calls.lastRootCall[pe] = g.calls.n
	}
}

// advanceSynced raises syncedCall to the last call that all members have entered, as later calls have proved, each
// for one member.
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

// rounds returns how many mailboxes a barrier takes: one for each of its rounds between hosts.
func (g *Group) rounds() int { return bits.Len(uint(len(g.hosts) - 1)) }

// advance begins the call after the last one, with k mailboxes and those for a barrier.
func (g *Group) advance(c *Call, k int) *arrival {
	u := &g.calls
	if c.elem != nil {
		c.detail = u.detailOf(c.elem)
	}
	u.n++
	u.history = bits.RotateLeft64(u.history, 23) + c.digest()
	u.tag = tagOf(u.n, u.history)
	u.mailboxesBefore = u.usedMailboxes
	u.starts[u.n%slotArrivals] = u.mailboxesBefore
	u.nextMailbox = mailbox(u.usedMailboxes + u.skip(k+g.rounds()))
	u.syncMailboxes = u.nextMailbox + mailbox(k)
	u.usedMailboxes = uint64(u.syncMailboxes) + uint64(g.rounds())
	e := g.view.arrival(u.n)
	e.call, e.count, e.bufferHash = c.word(), c.countWord(), c.bufferHash
	if d := &c.detail; d.digest >= longDetail && d.digest != u.detail {
		u.detail = d.digest
		g.view.detail().store(d.digest, d.text)
	}
	if g.n.Races != nil {
		g.seeEnter(c)
	}
	return e
}

// noteAllArrived notes that all members have entered the call under way.
func (g *Group) noteAllArrived() {
	g.calls.syncedCall, g.calls.freedMailboxes = g.calls.n, g.calls.mailboxesBefore
}

// end ends a call.
func (g *Group) end() {
	g.view.claimNext(g.calls.n)
	if g.n.Races != nil {
		g.seeLeave()
	}
	g.n.EndCall(g.calls.recorded)
	g.calls.recorded = node.Mark{}
	g.calls.busy.Store(false) // last: another goroutine may be next
}
