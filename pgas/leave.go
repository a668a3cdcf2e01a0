package pgas

// Leaving the job. Close is a collective of all PEs, and a call of its own: a PE that returns from its body one
// barrier early is in another call than the others, and all of them learn so. In calls of other teams nobody
// waits for a PE that is leaving: it says that it is, and those who look for a reason find it.

import "fmt"

// leaveTogether is the meeting of Close.
func (w *World) leaveTogether() error {
	w.sayLeaving(callSite())
	err := w.team.sync(w.ctx, kindClose, "close")
	if err != nil {
		w.team.stayUntilTold()
	}
	return err
}

// leftText is what reports say of a PE that is leaving: site is where it has called Close.
func leftText(site string) string {
	if site == "" {
		return "has left the job (World.Close)"
	}
	return fmt.Sprintf("has left the job (World.Close at %s)", site)
}

// hasLeft is the *MismatchError of the call under way if this PE waits in it for one of this host that is leaving
// the job, and nil if not.
func (t *Team) hasLeft() error {
	for k, i := range t.here {
		if t.local[k].entry(t.turns.n).tag.Load()>>tagBits < t.turns.n && t.isLeaving(i) {
			return t.disagree()
		}
	}
	return nil
}

// isLeaving says whether member i, which has not entered the call under way, never will. In the team of all PEs
// there is no need to look: its calls tell.
func (t *Team) isLeaving(i int) bool {
	if t.slot == worldSlot || i == t.me {
		return false
	}
	_, leaves := t.w.leavingAt(t.pes[i])
	return leaves
}
