package launch

// A job in which nothing moves any more. Each PE finds out for itself that all of the program in it waits, and has
// waited for Spec.Stall (package node, stalled.go). The agent looks at the pages of its PEs and tells the launcher when
// all of them are stalled, and when they no longer are. When every host is, the launcher asks for the tables, twice,
// and prints them once. It ends nothing: what the job waits for may come from outside of it, or by a timer.
//
//	PE     Blocked.Stalled = 1, and counts on
//	agent  FromStalled 1      every PE of the host that has not ended is stalled
//	host   h.stalled          every host: ToTable
//	agent  FromTable          every row says so, with its count
//	host   a moment later     ToTable
//	agent  FromTable          every row says so, and each PE has counted on: the report
//
// The second table is there for PEs that have been woken but have had no CPU yet, as where many share few. When the
// first tables had come all PEs were stalled, so whatever was to be done for others was done. A PE that has looked
// again since then, and has found nothing, waits for an update that none of them makes.

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// stallState is what the launcher knows and has said of a stall.
type stallState struct {
	asked bool             // the tables on their way are for the report on a stall
	seen  map[int]uint32   // what each PE had counted in the first tables; nil: none have come
	again <-chan time.Time // when to ask for the next tables
	told  bool             // the report has been printed
}

// stallPause is the time between two tables: a PE looks every 50 ms.
const stallPause = 150 * time.Millisecond

// lookForStall asks for the tables if every host has said that its PEs are stalled. A job that is ending is let alone.
func (j *job) lookForStall() {
	s := &j.stall
	s.again = nil
	if s.told || s.asked || j.terminating || j.globalExiting || j.userSignal != 0 || len(j.deaths) > 0 {
		return
	}
	for _, h := range j.hosts {
		if h.tableRequested {
			return
		}
		if !h.done && !h.gone && !h.stalled {
			s.seen = nil
			return
		}
	}
	s.asked = true
	j.askTables()
}

// stallTablesArrived compares the tables with the first ones, and reports the stall if there is one.
func (j *job) stallTablesArrived() {
	s := &j.stall
	s.asked = false
	counts := map[int]uint32{}
	moved, counting := false, true
	for _, h := range j.hosts {
		if h.done || h.gone {
			continue
		}
		for _, r := range h.table {
			before, known := s.seen[r.PE]
			counting = counting && (r.Exited || known && r.Stalled >= before+2) // the first may have been under way
			counts[r.PE] = r.Stalled
			if !r.Exited && (r.Stalled == 0 || r.Stalled < before) {
				moved, h.stalled = true, false // until its agent says so again
			}
		}
	}
	switch {
	case moved:
		s.seen = nil
	case s.seen != nil && counting:
		s.told = true
		j.stderr.Notice(j.stallReport())
	default:
		if s.seen == nil {
			s.seen = counts
		}
		s.again = time.After(stallPause)
	}
}

func (j *job) stallReport() string {
	return fmt.Sprintf("pgasrun: nothing has moved for %v: every PE waits. What each PE is doing:\n%s%s", j.spec.Stall, formatTable(j.hosts, -1), explainHang(j.hosts)) +
		"  The job is left as it is: Ctrl-C ends it; with -timeout a job that hangs is ended, with -stall 0 nothing is said of it\n"
}

// tableStalled reports whether the PEs of a table that have not ended are stalled.
func tableStalled(rows []frame.Blocked) bool {
	return !slices.ContainsFunc(rows, func(r frame.Blocked) bool { return !r.Exited && r.Stalled == 0 })
}

// explainHang returns lines about what the tables of hosts show of why PEs wait, each with what to change.
func explainHang(hosts []*host) string {
	text := lockCycle(hosts)
	if slices.ContainsFunc(hosts, func(h *host) bool { return !tableStalled(h.table) }) {
		return text // a PE that goes on may do what the others wait for
	}
	rows := map[int]frame.Blocked{}
	for _, h := range hosts {
		for _, r := range h.table {
			if !r.Exited {
				rows[r.PE] = r
			}
		}
	}
	return text + heldLocks(rows) + missingUpdates(rows)
}

// heldLocks returns a line for each PE that has a lock for which another one waits, and waits itself for something
// else.
func heldLocks(rows map[int]frame.Blocked) string {
	waiters := map[int][]int{} // by holder
	for pe, r := range rows {
		holder, ok := rows[r.Peer]
		if ok && r.Op == boot.InLock && r.Peer != pe && holder.Op != boot.InLock {
			waiters[r.Peer] = append(waiters[r.Peer], pe)
		}
	}
	return eachPE(waiters, func(holder int, of []int) string {
		return fmt.Sprintf("  PE %d waits in a %v, and has a lock that PE %s waits for: unlock it before\n", holder, rows[holder].Op, Ranges(of))
	})
}

// missingUpdates returns a line about PEs that wait for an update of memory.
func missingUpdates(rows map[int]frame.Blocked) string {
	var waiting []int
	for pe, r := range rows {
		if r.Op == boot.InWait || r.Op == boot.InNotify {
			waiting = append(waiting, pe)
		}
	}
	if len(waiting) == 0 {
		return ""
	}
	slices.Sort(waiting)
	return fmt.Sprintf("  no PE is left to make the update that is awaited by PE %s: look for the put, signal, atomic or Unlock that is left out, goes elsewhere, or has another value\n", Ranges(waiting))
}

// eachPE returns the lines of the keys of m, in their order.
func eachPE(m map[int][]int, line func(int, []int) string) (text string) {
	for _, pe := range slices.Sorted(maps.Keys(m)) {
		slices.Sort(m[pe])
		text += line(pe, m[pe])
	}
	return text
}
