package node

// What a PE that is blocked shows to reports of the job, and why a wait ends without its condition.

import (
	"context"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// publishAfter is the number of polls after which a wait shows that it is blocked: the first few take no longer than
// showing it does.
const publishAfter = 16

// shownWait is a wait of which nothing is shown before it has lasted for a moment.
type shownWait struct {
	node  *Node
	why   Blocked
	mark  record.Mark
	since int64 // when the wait was first shown
	shown bool
}

// begin shows the wait, if it is not shown yet.
func (s *shownWait) begin() {
	if !s.shown {
		s.mark, s.shown = s.node.Block(s.why), true
		s.since = s.node.State.Blocked.Since.Load()
	}
}

// again is called while a long wait lasts. It shows the wait, as long as it has lasted, if nothing is shown: another
// goroutine of this PE was shown instead, and has withdrawn its wait. Of a collective it shows the member that is
// missing now.
func (s *shownWait) again(ctx context.Context, c *Cond) {
	if s == nil || !s.shown {
		return
	}
	b, why := &s.node.State.Blocked, s.why.shown()
	switch {
	case b.Op.Load() == uint32(boot.NotBlocked):
		s.node.publish(why, s.since)
		s.publishSite(ctx, c)
	case why.Party != nil && b.Since.Load() == s.since:
		b.Peer.Store(int32(why.Party.Edge(why.Peer).Peer))
	}
}

func (s *shownWait) end() {
	if s.shown {
		s.node.Unblock(s.mark)
	}
}

// lastCheck gives a condition that came true at the last moment preference over err.
func lastCheck(c Cond, err error) (uint64, error) {
	v, ok := c.Check()
	if ok {
		return v, nil
	}
	return v, err
}

// waitError returns the reason why the wait for c cannot end, or nil. With everywhere it also reads the memory of
// other hosts, which takes long.
func (n *Node) waitError(ctx context.Context, c Cond, everywhere bool) error {
	err := n.EndedError(ctx)
	if c.Party == nil {
		return err
	}
	if err == nil {
		return c.Party.Check(everywhere)
	}
	if c.joint && n.PeerFailure() == nil {
		return FirstError(c.Party.Check(true), err)
	}
	if n.PeerFailure() == nil {
		return err
	}
	// A PE that has found out why the call cannot complete may have ended for that very reason.
	return FirstError(c.Party.Check(false), err)
}

// Block publishes what this PE is blocked in, until Unblock, which gets what Block returns. When several goroutines of
// a PE are blocked, reports show the one that called Block last; what the PE records has all of them.
func (n *Node) Block(why Blocked) record.Mark {
	n.Learn()
	if n.Sched != nil && !n.canBlockForever(why) {
		return n.recordWait(why)
	}
	why = why.shown()
	n.publish(why, n.since())
	return n.recordWait(why)
}

// publish writes what Block tells, and since when it lasts.
func (n *Node) publish(why Blocked, since int64) {
	if why.Name != "" {
		n.State.Text.Store(why.Name + "\n")
	}
	b, e := &n.State.Blocked, WaitEdge{Peer: why.Peer}
	if why.Party != nil {
		e = why.Party.Edge(why.Peer)
	}
	b.Peer.Store(int32(e.Peer))
	b.Seq.Store(why.Seq)
	b.Team.Store(uint32(e.Slot))
	b.Since.Store(since)
	b.Op.Store(uint32(why.Op))
	if why.Party != nil {
		n.publishEdge(e, why.Peer)
	}
}

// publishSite publishes in words what this PE is blocked in: the name of the word or of what the wait is for, and where
// the program waits. It takes some microseconds.
func (s *shownWait) publishSite(ctx context.Context, c *Cond) {
	n := s.node
	if n.Rec != nil && s.shown && n.Rec.Lasts(s.mark) { // it may not end
		s.mark = n.place(s.mark, n.Rec.Cause(s.mark))
	}
	name := Blocked{}.Within(ctx).shown().Name
	if name == "" && c.Party == nil && c.Word.Off != 0 {
		name = n.Names.at(c.Word.Off)
	}
	n.State.Text.Store(name + "\n" + callsite.Program())
}

// PublishCall publishes where the program has made the call that Block tells of. It takes some microseconds.
func (n *Node) PublishCall() { n.State.Text.Store("\n" + callsite.Program()) }

// Unblock withdraws what Block and publishSite have published.
func (n *Node) Unblock(m record.Mark) {
	if n.Rec != nil {
		n.endWait(m)
	}
	n.withdraw()
}

// withdraw is Unblock without a record.
func (n *Node) withdraw() {
	if n.Sched != nil {
		if !n.publishing {
			return
		}
		n.publishing = false // without a scheduler, several goroutines call Unblock at once
	}
	n.State.Blocked.Op.Store(uint32(boot.NotBlocked))
	n.State.Text.Clear()
	n.clearEdge()
}

// canBlockForever reports whether a wait may never end where a scheduler chooses the PE that runs, and sets publishing
// to that. A get, an atomic or a quiet is ended by messages alone, so it always ends.
func (n *Node) canBlockForever(why Blocked) bool {
	n.publishing = why.Op != boot.InGet && why.Op != boot.InAtomic && why.Op != boot.InQuiet
	return n.publishing
}

// EndJoining withdraws what Open has published: this PE has joined the job.
func (n *Node) EndJoining() {
	n.joining = false
	n.withdraw()
}
