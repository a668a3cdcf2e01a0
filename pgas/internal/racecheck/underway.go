package racecheck

// What a context has under way to a PE, by the bytes that it accesses.

import "slices"

// target is what a context knows of its operations to one PE.
type target struct {
	fenced   UpTo   // the last operations before a fence of that PE
	gets     uint64 // the last get that an operation which a fence orders comes after
	behind   *Clock // what operations before a fence come after since they are on the same bytes
	noted    *Clock // the same of notified operations
	notedTo  UpTo   // the operations that notified ones come after
	spans    []span // in order of lo
	underway []underway
	fetched  []words // what atomics under way bring the values of
	fetches  uint64  // how many have been remembered
	buffers  int     // how many buffers are of operations since the last quiet
}

// span is the range of the operations with the same index in target.underway.
type span struct{ lo, hi uint64 }

// underway is an operation, or several that count as one.
type underway struct {
	by      Access // the operation
	chained bool   // its clock holds more than that of the PE at the call
	merged  bool   // it is several operations, and by none of them
	upTo    UpTo   // if merged: the operations, and those that they come after
	clock   *Clock // if merged and chained: what they come after
}

// words are words of a PE.
type words struct {
	lo, hi uint64
	upTo   uint64 // the number of the last operation that fetches one of them
	at     uint64 // how many were remembered before
}

// fetch remembers that an operation brings the value of a word. It reports false if others count as fetched too.
func (t *target) fetch(w words) bool {
	w.at = t.fetches
	t.fetches++
	if n := len(t.fetched); n >= mostFetched {
		l := &t.fetched[n-1]
		l.lo, l.hi, l.upTo, l.at = min(l.lo, w.lo), max(l.hi, w.hi), w.upTo, w.at
		return false
	}
	t.fetched = append(t.fetched, w)
	return true
}

// learned forgets the words of operations up to a number, which were among the first so many.
func (t *target) learned(upTo, fetches uint64) {
	t.fetched = slices.DeleteFunc(t.fetched, func(w words) bool { return w.upTo <= upTo && w.at < fetches })
}

// stands reports whether a comes after all that e comes after, and takes the place of e wherever order counts. e is of
// the same context and to the same PE, all bytes of e are bytes of a, and the clock of a has that of e. So a need not
// list e.
func (a *Access) stands(e *Access) bool { return a.How.covers(e.How) && a.Fenced.has(&e.Fenced) }

// onSame has a come after the operations to the PE on some of the same bytes. It returns the clock of those of which
// a.Fenced cannot say it. whole says that a accesses all bytes from lo to hi. several reports whether some count as
// one: a comes after fewer of them than it then counts as coming after.
func (t *target) onSame(a *Access, lo, hi uint64, whole bool) (chain *Clock, several bool) {
	for i, s := range t.spans {
		if s.lo >= hi {
			break
		}
		if s.hi <= lo {
			continue
		}
		switch x := &t.underway[i]; {
		case x.merged:
			a.Fenced.join(&x.upTo)
			chain, several = chain.Join(x.clock), true
		case whole && !x.chained && lo <= s.lo && s.hi <= hi && a.stands(&x.by):
		default:
			chain = chain.Join(x.by.release())
		}
	}
	return chain, several
}

// remember remembers an operation on the bytes from lo to hi. It forgets those on bytes inside of that: the operation
// comes after them. If there are many, neighbours count as one from then on.
func (t *target) remember(a *Access, lo, hi uint64, chained bool) {
	inside, at := false, 0
	for i, s := range t.spans {
		if s.lo >= hi {
			break
		}
		if s.lo <= lo && hi <= s.hi && t.underway[i].merged {
			t.underway[i].add(a, chained)
			return
		}
		if s.lo < lo {
			at = i + 1
		}
		inside = inside || lo <= s.lo && s.hi <= hi
	}
	if inside {
		t.forget(func(_ int, s span) bool { return lo <= s.lo && s.hi <= hi })
	}
	t.spans = slices.Insert(t.spans, at, span{lo, hi})
	t.underway = slices.Insert(t.underway, at, underway{by: *a, chained: chained})
	if len(t.spans) > mostSpans {
		t.merge()
	}
}

// forget forgets what which chooses.
func (t *target) forget(which func(i int, s span) bool) {
	n := 0
	for i, s := range t.spans {
		if !which(i, s) {
			if n != i {
				t.spans[n], t.underway[n] = s, t.underway[i]
			}
			n++
		}
	}
	clear(t.underway[n:])
	t.spans, t.underway = t.spans[:n], t.underway[:n]
}

// merge makes one of the ranges that are near each other: at least of half of them.
func (t *target) merge() {
	gaps := make([]uint64, 0, mostSpans)
	for i := range len(t.spans) - 1 {
		gaps = append(gaps, t.gap(i))
	}
	slices.Sort(gaps)
	most := gaps[len(gaps)/2]
	n := 0
	for i := 1; i < len(t.spans); i++ {
		if s := t.spans[i]; s.lo > t.spans[n].hi && s.lo-t.spans[n].hi > most {
			n++
			t.spans[n], t.underway[n] = s, t.underway[i]
			continue
		}
		t.spans[n].hi = max(t.spans[n].hi, t.spans[i].hi)
		t.underway[n].join(&t.underway[i])
	}
	clear(t.underway[n+1:])
	t.spans, t.underway = t.spans[:n+1], t.underway[:n+1]
}

// gap returns the number of bytes between a range and the next one.
func (t *target) gap(i int) uint64 {
	if t.spans[i+1].lo <= t.spans[i].hi {
		return 0
	}
	return t.spans[i+1].lo - t.spans[i].hi
}

// join adds other operations to x.
func (x *underway) join(other *underway) {
	if !x.merged {
		by, chained := x.by, x.chained
		*x = underway{merged: true}
		x.add(&by, chained)
	}
	if !other.merged {
		x.add(&other.by, other.chained)
		return
	}
	x.upTo.join(&other.upTo)
	x.clock = x.clock.Join(other.clock)
	x.chained = x.chained || other.chained
}

// add adds an operation to x, which is merged.
func (x *underway) add(a *Access, chained bool) {
	x.upTo.join(&a.Fenced)
	s := a.Stream % streams
	x.upTo[s] = max(x.upTo[s], a.Number)
	if chained {
		x.clock, x.chained = x.clock.Join(a.Clock), true
	}
}

// complete reports whether the operations are among those up to a mark.
func (x *underway) complete(m *Mark) bool {
	if !x.merged {
		return x.by.Number <= m[x.by.Stream%streams]
	}
	for s, n := range x.upTo {
		if n > m[s] {
			return false
		}
	}
	return true
}
