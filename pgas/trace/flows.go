package trace

// Which act of which PE has ended a wait. Nothing travels with messages for it: the initiator has recorded when it
// updated which word of which PE, or left a note there, and the waiter which word it waited for, and until when. The
// last update before the end of the wait is what ended it. Clocks of hosts may be wrong by what is known of them, so an
// update may seem to be later than the wait that it ended by so much.
//
//	wait for a word, a lock   the last update of that word by another PE
//	wait for a note           the last note of another PE
//	wait in a collective      the last entry of a PE into that call; of a broadcast, that of the root

import (
	"cmp"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// lockBytes is how much memory the words of a lock take.
const lockBytes = 64

// act is what a PE has done to another.
type act struct {
	at   int64
	off  uint64
	from int
}

// acts are those that concern one PE, by the time.
type acts struct{ updates, notes []act }

func (t *Trace) actsByTarget() map[int]*acts {
	all := map[int]*acts{}
	for i := range t.PEs {
		p := &t.PEs[i]
		for _, e := range p.Points {
			to := all[e.Peer]
			if to == nil {
				to = new(acts)
				all[e.Peer] = to
			}
			switch a := (act{e.At, e.Seq, p.Number}); e.Kind {
			case record.Update:
				to.updates = append(to.updates, a)
			case record.Note:
				to.notes = append(to.notes, a)
			}
		}
	}
	for _, a := range all {
		byTime := func(a, b act) int { return cmp.Compare(a.at, b.at) }
		slices.SortStableFunc(a.updates, byTime)
		slices.SortStableFunc(a.notes, byTime)
	}
	return all
}

// last returns the last act by another PE than by, before or at end, on words from off on to off+bytes.
func last(list []act, by int, end int64, off, bytes uint64) (act, bool) {
	i, _ := slices.BinarySearchFunc(list, end, func(a act, end int64) int {
		if a.at <= end {
			return -1
		}
		return 1
	})
	const most = 4096 // back from there: a word that is updated so rarely has not ended this wait
	for n := 0; n < most && i > 0; n++ {
		i--
		if a := list[i]; a.from != by && a.off-off < bytes {
			return a, true
		}
	}
	return act{}, false
}

// findFlows finds the arrows.
func (t *Trace) findFlows() {
	slack := int64(0)
	if e, bounded := t.Error(); bounded {
		slack = int64(e)
	}
	byTarget, calls := t.actsByTarget(), t.callsByNumber()
	for i := range t.PEs {
		p := &t.PEs[i]
		for k := range p.Slices {
			s := &p.Slices[k]
			if s.Kind != record.Wait || s.Open {
				continue
			}
			if f, ok := flowTo(p.Number, s, byTarget[p.Number], calls, slack); ok {
				t.Flows = append(t.Flows, f)
			}
		}
	}
	slices.SortFunc(t.Flows, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.ToAt, b.ToAt), cmp.Compare(a.To, b.To)) })
}

// flowTo returns the arrow to the end of wait s of PE number.
func flowTo(number int, s *Slice, to *acts, calls map[callKey][]entry, slack int64) (Flow, bool) {
	f := Flow{To: number, ToAt: s.End()}
	if to != nil {
		var a act
		var ok bool
		switch s.Name {
		case "wait":
			a, ok = last(to.updates, number, s.End()+slack, s.Seq, 8)
			f.Name = "update"
		case "lock":
			a, ok = last(to.updates, number, s.End()+slack, s.Seq, lockBytes)
			f.Name = "release"
		case "notified access":
			if s.Peer < 0 { // otherwise it waits for room
				a, ok = last(to.notes, number, s.End()+slack, 0, 1)
				f.Name = "note"
			}
		}
		if ok && a.at >= s.Start-slack { // what was there before it began has not ended it
			f.From, f.FromAt = a.from, min(a.at, s.End())
			return f, true
		}
	}
	if e, ok := arrival(s, calls, slack); ok && e.pe != number && e.at >= s.Start-slack {
		f.From, f.FromAt, f.Name = e.pe, min(e.at, s.End()), "arrival"
		return f, true
	}
	return f, false
}

// callKey names a call of a collective: its number in a team.
type callKey struct{ seq, team uint64 }

// entry is when a PE has entered a call.
type entry struct {
	pe int
	at int64
}

// callsByNumber returns the entries into each call, by the time.
func (t *Trace) callsByNumber() map[callKey][]entry {
	calls := map[callKey][]entry{}
	for i := range t.PEs {
		p := &t.PEs[i]
		for _, s := range p.Slices {
			if s.Kind == record.Call {
				k := callKey{s.Seq, s.Value}
				calls[k] = append(calls[k], entry{p.Number, s.Start})
			}
		}
	}
	for _, list := range calls {
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pe, b.pe)) })
	}
	return calls
}

// arrival returns the entry that has ended wait s in a collective. Receivers of a broadcast wait for its root;
// everywhere else all members are needed, so the last to enter counts.
func arrival(s *Slice, calls map[callKey][]entry, slack int64) (entry, bool) {
	list := calls[callKey{s.Seq, s.Value}]
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		if e.at <= s.End()+slack && (s.Name != "broadcast" || e.pe == s.Peer) {
			return e, true
		}
	}
	return entry{}, false
}
