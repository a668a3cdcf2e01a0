package carry

// When is everything delivered? The members count what they have sent and what they have taken, and a census adds these
// counts over all members in waves: up a tree to its root, and down again with the root's decision.
//
// A member reports to a wave when it has nothing to do: all that it has to send is put, all that has come is taken. The
// counts of one wave were taken at different moments, so that they are equal proves nothing by itself: an item may have
// been taken before its receiver's report, and sent after its sender's. But if the items that one wave found taken are
// as many as the next wave finds sent, then nothing was under way between the waves, and nobody can send any more: the
// four-counter method of F. Mattern, "Algorithms for distributed termination detection" (1987), section 4. Where what
// is received makes nobody send, no item can be taken before its sender has counted it, and one wave is enough.
//
// A wave costs a message for each edge of the tree upward and one downward.

import "github.com/gopgas/gopgas/pgas"

// censusFan is the number of children of a member in the tree.
const censusFan = 4

// CensusSignals is the number of signals that a census takes of a flow: one for each child, and one of the parent.
const CensusSignals = censusFan + 1

// Tally is what members have sent and taken, since the container was made. Counts may wrap.
type Tally struct{ Sent, Taken uint64 }

// Census is one member's part in the counting.
type Census struct {
	m       *Members
	f       *Flow
	first   int // the census's first signal in f
	place   int
	reports pgas.Slice[Tally]
	oneWave bool // what is received makes nobody send

	wave     uint64 // the number of waves that are over
	reported bool   // this member has reported to the wave
	last     Tally  // at the root: the totals of the last wave
	repeated bool   // at the root: last is of this census
}

// NewCensus reserves the room of a census. Its signals are those of f from first on.
func NewCensus(mem *Memory, f *Flow, first int, oneWave bool) *Census {
	return &Census{m: mem.Members, f: f, first: first, oneWave: oneWave, place: Reserve[Tally](mem, censusFan)}
}

func (c *Census) Bind(mem *Memory) { c.reports = Piece[Tally](mem, c.place, censusFan) }

// Step takes what part in the waves this member can take without waiting, by what it saw when it last looked. The
// member has nothing to do, and has counted mine. It reports whether the census is over: then all members have
// delivered everything, and the next step begins another census.
func (c *Census) Step(mine Tally) (over bool) {
	for {
		over, known := c.report(mine)
		if !known {
			return false
		}
		c.end(over)
		if over {
			return true
		}
	}
}

// report takes this member's part in the wave under way, and returns the decision if it is known.
func (c *Census) report(mine Tally) (decision, known bool) {
	if !c.reported {
		total, all := c.childrens(mine)
		if !all {
			return false, false
		}
		if c.m.Me == 0 {
			return c.decide(total), true
		}
		parent, place := (c.m.Me-1)/censusFan, (c.m.Me-1)%censusFan
		c.reports.At(place).PutSignal(parent, &total, c.f.signals.At(c.first+place), c.wave+1)
		c.reported = true
	}
	v := c.f.seen[c.first+censusFan]
	return v&1 == 1, v>>1 == (c.wave+1)&(1<<63-1)
}

// childrens adds the reports of the children to mine, and reports whether all have come.
func (c *Census) childrens(mine Tally) (total Tally, all bool) {
	for place := range censusFan {
		if c.m.Me*censusFan+1+place >= c.m.N {
			break
		}
		if c.f.seen[c.first+place] != c.wave+1 {
			return total, false
		}
		report := c.reports.Local()[place]
		mine.Sent += report.Sent
		mine.Taken += report.Taken
	}
	return mine, true
}

// decide is the root's decision after a wave.
func (c *Census) decide(total Tally) (over bool) {
	before := c.last.Taken
	if c.oneWave {
		before, c.repeated = total.Taken, true
	}
	over = c.repeated && before == total.Sent
	c.last, c.repeated = total, !over
	return over
}

// end ends a wave: it tells the children the decision.
func (c *Census) end(over bool) {
	c.wave++
	c.reported = false
	v := c.wave << 1
	if over {
		v |= 1
	}
	for child := c.m.Me*censusFan + 1; child <= c.m.Me*censusFan+censusFan && child < c.m.N; child++ {
		c.f.signals.At(c.first+censusFan).Set(child, v)
	}
}
