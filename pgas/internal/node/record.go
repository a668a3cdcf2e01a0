package node

// What this PE records about itself (package record): its waits here, its operations (recorded.go), the rest
// where it happens. Without a memory for it, Rec is nil and nothing is recorded.

import (
	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Mark is a wait or a call that has begun, as it is recorded. The zero Mark is not recorded.
type Mark = record.Mark

// StartRecording begins the recording, if the job has a memory for it. The remote transport is known by now.
func (n *Node) StartRecording() {
	if n.Rec = n.Job.Record; n.Rec == nil {
		return
	}
	n.joining = true
	now := n.Now
	if n.Sched == nil {
		now = nil
	}
	n.Rec.Start(now)
	n.Notes.rec = n.Rec
	if n.Policy.spins > 0 {
		n.Policy.spins = 0 // a wait that a few polls end is one, too
	}
}

// recordWait records that the PE is blocked from now on, and returns what EndWait gets.
func (n *Node) recordWait(why Blocked) record.Mark {
	if n.Rec == nil {
		return record.Mark{}
	}
	cause := why.Cause
	if n.joining { // one cause for all of it, which the program does not see
		cause = boot.InInit.String()
	} else if cause == "" {
		cause = why.Op.String()
	}
	if why.Op == boot.InLock || why.Op == boot.InWait {
		n.nameWord(why.Seq)
	}
	var team uint64
	if why.Party != nil {
		e := why.Party.Edge(why.Peer)
		why.Peer, team = e.Peer, TeamNumber(e.Slot, e.First)
	}
	m := n.Rec.BeginWait(cause, why.Peer, why.Seq, team)
	if why.Op.Collective() {
		m = m.ForAll()
	}
	if n.Rec.BeginsLate(m) {
		m = n.place(m, cause)
	}
	return m
}

// endWait records the end of a wait that recordWait has begun.
func (n *Node) endWait(m record.Mark) {
	if n.Rec.Lasts(m) {
		m = n.place(m, n.Rec.Cause(m))
	}
	n.Rec.EndWait(m)
}

// place returns m with the line at which the program has made the call that led here.
func (n *Node) place(m record.Mark, cause string) record.Mark {
	if n.joining {
		return m
	}
	var s callsite.Stack
	s.Take()
	what := n.places.of(&s, cause)
	if what == "" {
		return m
	}
	return n.Rec.Place(m, what)
}

// nameWord has the trace know the program's name of the word at offset off.
func (n *Node) nameWord(off uint64) {
	if !n.Rec.Traces() || off == 0 || n.words.n.Load() >= mostWordNames {
		return
	}
	if _, known := n.words.known.LoadOrStore(off, struct{}{}); known {
		return
	}
	if name := n.Names.at(off); name != "" {
		n.words.n.Add(1)
		n.Rec.RecordName(record.Word, name, off)
	}
}

// BeginHold records that this PE holds the lock at offset off from now on, and EndHold that it gives it away.
func (n *Node) BeginHold(off uint64) {
	if n.Rec != nil && n.Rec.Traces() {
		n.nameWord(off)
		n.words.held.Store(off, n.Rec.Begin(record.Hold, "lock", -1, off, 0))
	}
}

// EndHold ends what BeginHold has begun.
func (n *Node) EndHold(off uint64) {
	if n.Rec == nil {
		return
	}
	if m, ok := n.words.held.LoadAndDelete(off); ok {
		n.Rec.End(m.(record.Mark))
	}
}

// TeamNumber names a team in what PEs record: by its slot, which teams without a common member may have too, and its
// first PE.
func TeamNumber(slot, first int) uint64 { return uint64(slot) | uint64(first)<<8 }

// BeginCall records that a call of a collective begins: its name, its number in the team, and the team. EndCall gets
// what it returns.
func (n *Node) BeginCall(name string, number uint64, slot, first int) record.Mark {
	n.Learn()
	if n.Rec == nil {
		return record.Mark{}
	}
	m := n.Rec.Begin(record.Call, name, -1, number, TeamNumber(slot, first))
	if n.Rec.Traces() && n.Rec.BeginsLate(m) {
		m = n.place(m, name)
	}
	return m
}

// EndCall records its end.
func (n *Node) EndCall(m record.Mark) {
	if n.Rec != nil {
		n.Rec.End(m)
	}
}

// recorded returns c, or a channel over c that counts as the runtime's messages what goes through it.
func (n *Node) recorded(c transport.Channel) transport.Channel {
	if n.Rec == nil {
		return c
	}
	return &Recorded{Channel: c, rec: n.Rec, runtime: true}
}
