package notify

// Matching, as section IV.B of the paper has it, but for one thing: there a notification goes to whichever
// request is tested when it is found. Here it goes to the oldest one that is under way, whichever is
// tested, so that what a program gets does not depend on the order of its tests.
//
// Notifications are matched in the order of their arrival, when somebody looks. That a request was started
// between an arrival and the look makes no difference: had the look come first, the notification would
// have been unexpected, and the request would have taken it when it was started.
//
// Invariant: no unexpected notification fits a request that is under way.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// key is what a notification must fit: a source, and a tag above it. anyOf is any.
type key uint64

const anyOf = 1<<32 - 1

// keyOf packs source and tag, Any for any.
func keyOf(source, tag int) key { return key(uint32(tag))<<32 | key(uint32(source)) }

// fits says whether a notification with that stamp is one that k asks for.
func (k key) fits(s pgas.Stamp) bool {
	different := uint64(k) ^ uint64(s)
	return (uint32(different) == 0 || uint32(k) == anyOf) && (different>>32 == 0 || uint32(k>>32) == anyOf)
}

// stamped is what a request keeps of a notification.
type stamped struct {
	stamp pgas.Stamp
	bytes uint64
}

// inLine is how many active requests the matcher's first cache line has all that matters of.
const inLine = 3

// matcher gives the notifications of a PE to its requests. All of it is used under the lock of its inbox.
type matcher struct {
	// One cache line.
	box        *pgas.Inbox
	active     int32 // requests under way
	unexpected int32 // notifications that nobody has asked for
	oldestOnes [inLine]struct {
		key key
		r   *Request
	}
	// Another one, for what happens less often.
	more  []*Request  // the other active ones, oldest first
	queue []pgas.Note // unexpected, oldest first, from first on
	first int
	_     [1]uint64
}

func matcherOf(w *pgas.World) *matcher {
	box := w.Inbox()
	return box.Matcher(func() pgas.Matcher { return &matcher{box: box} }).(*matcher)
}

// Unmatched is pgas.Matcher's.
func (m *matcher) Unmatched() []pgas.Note { return m.queue[m.first:] }

// at is active request number i, the oldest first.
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

// deactivate takes r out.
func (m *matcher) deactivate(r *Request) {
	i := 0
	for m.at(int32(i)) != r {
		i++
	}
	m.active--
	last := int(m.active) // the place that becomes free
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

// deliver gives what has arrived to the requests that it fits, until r is complete, if it is not nil.
func (m *matcher) deliver(r *Request) {
	for n := (pgas.Note{}); m.box.Take(&n); {
		q := m.fitting(&n)
		if q == nil {
			if m.box.Refuse() {
				return
			}
			m.keep(&n)
			continue
		}
		m.box.Room() // the queue moves on even if it stays full
		if q.take(&n) {
			m.deactivate(q)
			if q == r {
				return
			}
		}
	}
}

// fitting is the oldest active request that n fits, or nil.
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

// fits says whether r asks for n.
func (r *Request) fits(n *pgas.Note) bool {
	return r.key.fits(n.Stamp) && (r.team == nil || r.admits(n))
}

// admits says whether n comes from a member of r's team.
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

// keep adds n to the unexpected ones.
func (m *matcher) keep(n *pgas.Note) {
	if m.first == len(m.queue) || len(m.queue) == cap(m.queue) && 2*m.first >= len(m.queue) {
		m.queue = m.queue[:copy(m.queue, m.queue[m.first:])] // those that have been taken give way
		m.first = 0
	}
	m.queue = append(m.queue, *n)
	m.unexpected++
}

// takeUnexpected gives r, which is being started, what it fits of the unexpected ones, and reports whether
// that completes it.
func (m *matcher) takeUnexpected(r *Request) bool {
	for i := m.first; i < len(m.queue) && r.state == active; i++ {
		if !r.fits(&m.queue[i]) {
			continue
		}
		r.take(&m.queue[i])
		copy(m.queue[m.first+1:i+1], m.queue[m.first:i]) // most often it is the first
		m.first++
		m.unexpected--
		m.box.Room()
	}
	return r.state == complete
}

// oldest is the first unexpected notification that r fits.
func (m *matcher) oldest(r *Request) (pgas.Note, bool) {
	for i := range m.queue[m.first:] {
		if n := &m.queue[m.first+i]; r.fits(n) {
			return *n, true
		}
	}
	return pgas.Note{}, false
}
