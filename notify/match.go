package notify

// Matching, as in section IV.B of the paper with one difference: in the paper a notification goes to the request
// whose test finds it. In this package it goes to the oldest active request that it matches, whichever request is
// tested, so that the result does not depend on the order of a program's tests.
//
// Notifications are matched in the order of their arrival, by the next call that tests or waits. It makes no
// difference if a request is started between an arrival and that call: had the call come first, the notification
// would have been unexpected, and the request would have taken it when it was started.
//
// Invariant: no unexpected notification matches an active request.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// key is what a notification must match: a source in the lower half, a tag in the upper one. anyOf is Any.
type key uint64

const anyOf = 1<<32 - 1

// keyOf packs source and tag.
func keyOf(source, tag int) key { return key(uint32(tag))<<32 | key(uint32(source)) }

// fits reports whether k matches a notification with stamp s.
func (k key) fits(s pgas.NoteID) bool {
	different := uint64(k) ^ uint64(s)
	return (uint32(different) == 0 || uint32(k) == anyOf) && (different>>32 == 0 || uint32(k>>32) == anyOf)
}

// stamped is what a request keeps of a notification.
type stamped struct {
	stamp pgas.NoteID
	bytes uint64
}

// inLine is the number of active requests whose keys are in the first cache line of the matcher.
const inLine = 3

// matcher gives the notifications of a PE to its requests. It is used under the lock of the PE's queue of notes.
type matcher struct {
	// One cache line.
	notes      *pgas.NoteQueue
	active     int32 // the number of active requests
	unexpected int32 // the number of notifications in queue
	oldestOnes [inLine]struct {
		key key
		r   *Request
	}
	// A second cache line, for what happens less often.
	more  []*Request  // the other active requests, oldest first
	queue []pgas.Note // unexpected notifications, oldest first, from index first on
	first int
	_     [1]uint64
}

func matcherOf(w *pgas.World) *matcher {
	notes := w.NoteQueue()
	return notes.Matcher(func() interface{ Unmatched() []pgas.Note } { return &matcher{notes: notes} }).(*matcher)
}

// Unmatched returns the unexpected notifications, for the report of what was not received.
func (m *matcher) Unmatched() []pgas.Note { return m.queue[m.first:] }

// at returns active request i, counted from the oldest.
func (m *matcher) at(i int32) *Request {
	if i < inLine {
		return m.oldestOnes[i].r
	}
	return m.more[i-inLine]
}

// activate adds r behind all active requests.
func (m *matcher) activate(r *Request) {
	if m.active < inLine {
		m.oldestOnes[m.active].key, m.oldestOnes[m.active].r = r.key, r
	} else {
		m.more = append(m.more, r)
	}
	m.active++
}

// deactivate removes r from the active requests.
func (m *matcher) deactivate(r *Request) {
	i := 0
	for m.at(int32(i)) != r {
		i++
	}
	m.active--
	last := int(m.active) // the index that becomes free
	for ; i < min(last, inLine-1); i++ {
		m.oldestOnes[i] = m.oldestOnes[i+1]
	}
	if last < inLine {
		m.oldestOnes[last].r = nil
		return
	}
	if i == inLine-1 {
		m.oldestOnes[i].key, m.oldestOnes[i].r = m.more[0].key, m.more[0]
		i++
	}
	m.more = slices.Delete(m.more, i-inLine, i-inLine+1)
}

// deliver gives the notifications that have arrived to the requests that match, until r, unless it is nil, is
// complete.
func (m *matcher) deliver(r *Request) {
	for n := (pgas.Note{}); m.notes.Take(&n); {
		q := m.fitting(&n)
		if q == nil {
			if m.notes.Refuse() {
				return
			}
			m.keep(&n)
			continue
		}
		m.notes.Room() // the queue moves on even if it stays full
		m.notes.Matched(&n, false)
		if q.take(&n) {
			m.deactivate(q)
			if q == r {
				return
			}
		}
	}
}

// fitting returns the oldest active request that n matches, or nil.
func (m *matcher) fitting(n *pgas.Note) *Request {
	for i := range min(m.active, inLine) {
		if a := &m.oldestOnes[i]; a.key.fits(n.Stamp) && (a.r.team == nil || a.r.admits(n)) {
			return a.r
		}
	}
	for i := int32(inLine); i < m.active; i++ {
		if r := m.more[i-inLine]; r.fits(n) {
			return r
		}
	}
	return nil
}

// fits reports whether r matches n.
func (r *Request) fits(n *pgas.Note) bool {
	return r.key.fits(n.Stamp) && (r.team == nil || r.admits(n))
}

// admits reports whether n comes from a member of r's team.
func (r *Request) admits(n *pgas.Note) bool { return r.numberOf(n.Source()) >= 0 }

// take counts n, and reports whether r is complete.
func (r *Request) take(n *pgas.Note) bool {
	r.last = stamped{n.Stamp, n.Bytes}
	r.have++
	if r.have < r.count {
		return false
	}
	r.state = complete
	return true
}

// keep adds n to the unexpected notifications.
func (m *matcher) keep(n *pgas.Note) {
	if m.first == len(m.queue) || len(m.queue) == cap(m.queue) && 2*m.first >= len(m.queue) {
		m.queue = m.queue[:copy(m.queue, m.queue[m.first:])] // overwrites those that have been taken
		m.first = 0
	}
	m.queue = append(m.queue, *n)
	m.unexpected++
}

// takeUnexpected gives r, which is being started, the unexpected notifications that match, and reports whether r is
// complete then.
func (m *matcher) takeUnexpected(r *Request) bool {
	for i := m.first; i < len(m.queue) && r.state == active; i++ {
		if !r.fits(&m.queue[i]) {
			continue
		}
		n := m.queue[i]
		r.take(&n)
		copy(m.queue[m.first+1:i+1], m.queue[m.first:i]) // usually it is the first
		m.first++
		m.unexpected--
		m.notes.Room()
		m.notes.Matched(&n, true)
	}
	return r.state == complete
}

// oldest returns the first unexpected notification that r matches.
func (m *matcher) oldest(r *Request) (pgas.Note, bool) {
	for i := range m.queue[m.first:] {
		if n := &m.queue[m.first+i]; r.fits(n) {
			return *n, true
		}
	}
	return pgas.Note{}, false
}
