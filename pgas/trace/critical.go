package trace

// The critical path: the chain of computations and messages that has made the job as long as it was. It is followed
// from the last event back. Where a PE had waited, the chain goes on at the PE that ended the wait, from the moment at
// which that acted; what lies between that moment and the end of the wait is the way of the message. Anything that is
// not on the chain could take longer at no cost, to a point.

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Critical is the critical path.
type Critical struct {
	Steps     []Step      `json:"steps"` // the steps by time; of a long path, the longest
	Number    int         `json:"number_of_steps"`
	ByPE      []PathShare `json:"by_pe"`     // how much of the path is on each PE, the most first
	ByRegion  []PathShare `json:"by_region"` // the time in each region of the program, if there are regions
	Transfers int64       `json:"transfer_ns"`
	Waits     int64       `json:"wait_ns"` // the waits for what no PE of the job has done as far as the trace knows
}

// Step is a part of the path on one PE.
type Step struct {
	PE     int           `json:"pe"`
	Start  int64         `json:"start_ns"`
	Time   time.Duration `json:"time_ns"`
	Region string        `json:"region,omitempty"` // the region of the program with most of the time
	// the line of the program's last wait or collective before it, if it is known
	After  string `json:"after,omitempty"`
	Before string `json:"before,omitempty"` // the line of the next one, which may be what ended the step
	Then   string `json:"then,omitempty"`   // how it led to the next step: update, note, release, arrival
}

// PathShare is a part of the path.
type PathShare struct {
	PE     int           `json:"pe"` // -1 in ByRegion
	Region string        `json:"region,omitempty"`
	Time   time.Duration `json:"time_ns"`
	Share  float64       `json:"share"`
}

// mostSteps is how many steps of the path a summary has.
const mostSteps = 200

func (t *Trace) critical() Critical {
	var c Critical
	at, pe := int64(0), -1
	for i := range t.PEs {
		if p := &t.PEs[i]; p.End > at || pe < 0 {
			at, pe = p.End, p.Number
		}
	}
	if pe < 0 {
		return c
	}
	causes, waits := t.causes(), t.waitsByPE()
	steps, then := []Step(nil), ""
	for at > 0 {
		s := lastWait(waits[pe], at)
		if s == nil {
			steps = append(steps, Step{PE: pe, Time: time.Duration(at), Then: then})
			break
		}
		if d := at - s.End(); d > 0 {
			steps = append(steps, Step{PE: pe, Start: s.End(), Time: time.Duration(d), Then: then})
			then = ""
		}
		f, ok := causes[waitKey{pe, s.End()}]
		if ok && f.FromAt > s.Start {
			c.Transfers += s.End() - f.FromAt
			pe, at, then = f.From, min(f.FromAt, s.End()-1), f.Name
			continue
		}
		c.Waits += s.Dur
		at = min(s.Start, at-1)
	}
	slices.Reverse(steps)
	t.finish(&c, steps)
	return c
}

// waitsByPE returns the waits that have ended, by their end. Of waits at the same time, those of the innermost come
// last.
func (t *Trace) waitsByPE() map[int][]*Slice {
	all := map[int][]*Slice{}
	for i := range t.PEs {
		p := &t.PEs[i]
		var list []*Slice
		for k := range p.Slices {
			if s := &p.Slices[k]; s.Kind == record.Wait && s.Dur > 0 {
				list = append(list, s)
			}
		}
		slices.SortStableFunc(list, func(a, b *Slice) int { return cmp.Compare(a.End(), b.End()) })
		all[p.Number] = list
	}
	return all
}

// lastWait returns the last wait that had ended at a time, or nil.
func lastWait(list []*Slice, at int64) *Slice {
	i, _ := slices.BinarySearchFunc(list, at, func(s *Slice, at int64) int {
		if s.End() <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// finish adds up the steps, with their regions.
func (t *Trace) finish(c *Critical, steps []Step) {
	byPE, byRegion := map[int]time.Duration{}, map[string]time.Duration{}
	regions := map[int][]*Slice{}
	for i := range t.PEs {
		p := &t.PEs[i]
		for k := range p.Slices {
			if s := &p.Slices[k]; s.Kind == record.Region {
				regions[p.Number] = append(regions[p.Number], s)
			}
		}
	}
	walks := map[int]*walk{}
	for i := range steps { // by their start, so that each PE's regions are passed once
		s := &steps[i]
		byPE[s.PE] += s.Time
		w := walks[s.PE]
		if w == nil {
			w = &walk{next: regions[s.PE]}
			walks[s.PE] = w
		}
		most := time.Duration(0)
		for name, d := range w.within(s.Start, s.Start+int64(s.Time)) {
			if byRegion[name] += d; d > most || d == most && name < s.Region {
				s.Region, most = name, d
			}
		}
	}
	share := func(d time.Duration) float64 { return float64(d) / float64(max(1, t.End)) }
	for _, pe := range slices.Sorted(maps.Keys(byPE)) {
		c.ByPE = append(c.ByPE, PathShare{PE: pe, Time: byPE[pe], Share: share(byPE[pe])})
	}
	for _, r := range slices.Sorted(maps.Keys(byRegion)) {
		c.ByRegion = append(c.ByRegion, PathShare{PE: -1, Region: r, Time: byRegion[r], Share: share(byRegion[r])})
	}
	most := func(a, b PathShare) int { return cmp.Compare(b.Time, a.Time) }
	slices.SortStableFunc(c.ByPE, most)
	slices.SortStableFunc(c.ByRegion, most)
	c.Number = len(steps)
	c.Steps = longest(steps, mostSteps)
	t.findLines(c.Steps)
}

// findLines says between which lines of the program the steps are: those of the waits and calls around them.
func (t *Trace) findLines(steps []Step) {
	lines := map[int][]*Slice{}
	for i := range steps {
		s := &steps[i]
		list, known := lines[s.PE]
		if !known {
			list = t.PE(s.PE).withLines()
			lines[s.PE] = list
		}
		end := s.Start + int64(s.Time)
		next, _ := slices.BinarySearchFunc(list, end, func(l *Slice, at int64) int { return cmp.Compare(l.End(), at+1) })
		if next < len(list) {
			s.Before = list[next].Line
		}
		last, _ := slices.BinarySearchFunc(list, s.Start, func(l *Slice, at int64) int { return cmp.Compare(l.End(), at+1) })
		if last > 0 {
			s.After = list[last-1].Line
		}
	}
}

// withLines returns the waits and calls whose lines are known, by their end.
func (p *PE) withLines() []*Slice {
	var list []*Slice
	for k := range p.Slices {
		if s := &p.Slices[k]; s.Line != "" {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *Slice) int { return cmp.Compare(a.End(), b.End()) })
	return list
}

// walk goes once along the regions of a PE.
type walk struct {
	next []*Slice // slices that have not begun, in the order of Slices
	open []*Slice // slices that have begun and not ended, the innermost last
}

// within returns how much of the time from one moment to another is in which region, for the innermost of regions. A
// call begins where the one before has ended, or later.
func (w *walk) within(from, to int64) map[string]time.Duration {
	all := map[string]time.Duration{}
	spend := func(until int64) {
		if n := len(w.open); n > 0 && until > from {
			all[w.open[n-1].Name] += time.Duration(until - from)
		}
		from = max(from, until)
	}
	leave := func(until int64) { // regions that end by then, the innermost first
		for n := len(w.open); n > 0 && w.open[n-1].End() <= until; n = len(w.open) {
			spend(w.open[n-1].End())
			w.open = w.open[:n-1]
		}
	}
	for len(w.next) > 0 && w.next[0].Start < to {
		r := w.next[0]
		w.next = w.next[1:]
		if r.End() <= from {
			continue
		}
		leave(r.Start)
		spend(r.Start)
		w.open = append(w.open, r)
	}
	leave(to)
	spend(to)
	return all
}

// longest returns the n longest steps, in their order.
func longest(steps []Step, n int) []Step {
	if len(steps) <= n {
		return steps
	}
	index := make([]int, len(steps))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(steps[b].Time, steps[a].Time) })
	index = index[:n]
	slices.Sort(index)
	var out []Step
	for _, i := range index {
		out = append(out, steps[i])
	}
	return out
}
