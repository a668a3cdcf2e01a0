package racecheck

// When an access comes before another one.

// after reports whether a comes after e, which overlaps it.
func (a *Access) after(e *Access) bool {
	if a.From == e.From && a.follows(e) {
		return true
	}
	return a.Clock.has(&e.Strand)
}

// follows reports whether a comes after e, of the same PE, by the order in which the two were issued.
func (a *Access) follows(e *Access) bool {
	if e.Number == 0 {
		return e.Own <= a.Own // an operation ends the epoch in which it is issued
	}
	if e.Strand == a.Strand {
		return true
	}
	if a.Stream/streams != e.Stream/streams || a.To != e.To || a.Local || e.Local {
		return false
	}
	if s := e.Stream % streams; int(s) < len(a.Fenced) && e.Number <= a.Fenced[s] {
		return true
	}
	return e.Own < a.Own // on the same bytes: the later one wins, and a get finds what was put before
}

// race reports whether two accesses that overlap race.
func race(a, e *Access) bool {
	if !a.How.writes() && !e.How.writes() || a.How.atomic() && e.How.atomic() {
		return false
	}
	return !a.after(e) && !e.after(a)
}

// supersedes reports whether every access that races with e later also races with a.
func (a *Access) supersedes(e *Access) bool { return a.How.covers(e.How) && a.after(e) }

// repeats reports whether e is a, or like a: nothing that comes later is ordered with the one in another way than with
// the other.
func (e *Access) repeats(a *Access) bool {
	return e.How == a.How && e.Strand == a.Strand && e.Local == a.Local && e.After == a.After
}

// release returns what comes before the moment at which an effect of a can be seen, a included.
func (a *Access) release() *Clock { return a.releaseTo(nil) }

// releaseTo returns c with what a releases.
func (a *Access) releaseTo(c *Clock) *Clock {
	c = a.withFenced(c.Join(a.Clock).withOwn(a.From, a.Own))
	if a.Number == 0 {
		return c
	}
	return c.withTo(a.From, a.Stream, a.To, 0, a.Number)
}

// withFenced returns c with the operations that a comes after by a fence.
func (a *Access) withFenced(c *Clock) *Clock {
	for s, upTo := range a.Fenced {
		if upTo != 0 {
			c = c.withTo(a.From, a.Stream-a.Stream%streams+uint16(s), a.To, upTo, 0)
		}
	}
	return c
}

// standsIn reports whether a later release r on the same bytes by the same context takes the place of e. It comes after
// e and what e comes after, and no byte is as e has left it.
func (e *Access) standsIn(r *Access) bool {
	return e.From == r.From && e.Stream == r.Stream && e.To == r.To && e.Own <= r.Own && r.Fenced.has(&e.Fenced)
}
