package main

// Counts for homes on other hosts. A compare-swap over a network costs a round trip, and most identifiers
// are new to a table, so the updates of a batch are sent to such a home together, as a parcel: one put
// with signal. The home adds what arrived to its own pending counts, and so to its volume with its next
// merge, by the same compare-swaps as everybody on its host. With -direct there are no parcels, and every
// update is done by the PE that has it, over the network too.
//
// A home has boxes for each sender. A sender that finds them in use keeps its counts for a later merge:
// nobody waits for room. The signal Mail rings for everything that a PE may be waiting for: parcels,
// emptied boxes, calls to a meeting, ends.
//
// Invariant: the counts of a parcel are pending at its sender until it is put, then in the box, then
// pending at the home; Taken tells the sender of the last step. So when all have Done, with nothing left
// to send and every box emptied, the sum of tables and pending counts is complete.

import (
	"context"
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas"
)

// boxesEach is how many parcels of one sender a home can hold.
const boxesEach = 2

// A mailman is one PE's sending and receiving.
type mailman struct {
	w     *pgas.World
	tally TallyRef
	boxes BoxSym   // boxes 2s and 2s+1 of a PE hold parcels of sender s
	far   []bool   // by PE: reached by parcels
	used  bool     // there are such PEs
	sent  []uint64 // by home: parcels put there
	taken []uint64 // by sender: parcels taken out here
	text  []byte   // the parcel being packed
	heard uint64   // Mail when we looked last
	done  bool     // we told everybody
}

// newMailman makes the boxes; far says which PEs get parcels. It is collective.
func newMailman(ctx context.Context, w *pgas.World, tally TallyRef, far func(pe int) bool) (*mailman, error) {
	n := w.NPEs()
	m := &mailman{w: w, tally: tally, far: make([]bool, n), sent: make([]uint64, n), taken: make([]uint64, n)}
	for pe := range m.far {
		m.far[pe] = far(pe)
		m.used = m.used || m.far[pe]
	}
	var err error
	m.boxes, err = AllocBox(ctx, w, n*boxesEach)
	return m, err
}

// box is where parcel number i of sender lies.
func (m *mailman) box(sender int, i uint64) BoxRef {
	return m.boxes.At(sender*boxesEach + int(i%boxesEach))
}

// send packs counts of words, whose home is pe, into parcels as long as there are boxes, and returns the
// rest. A name that fits no parcel is of that rest for ever: see fits.
func (m *mailman) send(pe int, words []*word) (rest []*word) {
	for len(words) > 0 && m.sent[pe]-m.emptied(pe) < boxesEach {
		n := m.pack(words)
		words = words[n:]
		b := m.box(m.w.PE(), m.sent[pe])
		m.sent[pe]++
		b.PutTextSignal(pe, m.text, b.Arrived(), m.sent[pe]<<32|uint64(len(m.text)))
		m.ring(pe)
	}
	return words
}

// emptied is how many of our parcels pe has taken.
func (m *mailman) emptied(pe int) uint64 { return m.box(pe, 0).FetchTaken(m.w.PE()) }

// pack fills text with the first words, as many as fit, and returns how many those are.
func (m *mailman) pack(words []*word) int {
	m.text = m.text[:0]
	for i, w := range words {
		if len(m.text)+packed(w) > boxBytes {
			return i
		}
		m.text = appendFrequency(m.text, frequency{w.name, w.pending})
		w.pending = 0
	}
	return len(words)
}

// packed is the most bytes that w takes of a parcel.
func packed(w *word) int { return len(w.name) + 2*binary.MaxVarintLen64 }

// fits reports whether w can be sent.
func fits(w *word) bool { return packed(w) <= boxBytes }

// receive calls f for every count that has arrived.
func (m *mailman) receive(f func(name []byte, count int64)) {
	m.heard = m.tally.Mail().Fetch() // before looking, so that what comes later is heard
	for sender, far := range m.far {
		for far && m.takeOne(sender, f) {
		}
	}
}

// takeOne empties the next box of sender, if a parcel is in it.
func (m *mailman) takeOne(sender int, f func(name []byte, count int64)) bool {
	b := m.box(sender, m.taken[sender])
	arrived := b.Arrived().Fetch()
	if arrived>>32 != m.taken[sender]+1 {
		return false
	}
	eachFrequency(b.Text().Local()[:uint32(arrived)], f)
	m.taken[sender]++
	m.box(m.w.PE(), 0).SetTaken(sender, m.taken[sender])
	m.ring(sender)
	return true
}

// ring tells pe that something it may be waiting for is there, which was issued before.
func (m *mailman) ring(pe int) {
	m.w.Context().FencePE(pe)
	m.tally.Mail().Add(pe, 1)
}

// waiting reports whether something has come since the last receive.
func (m *mailman) waiting() bool { return m.tally.Mail().Test(pgas.NE, m.heard) }

// wait blocks until something has come since the last receive.
func (m *mailman) wait(ctx context.Context) error {
	_, err := m.tally.Mail().WaitUntil(ctx, pgas.NE, m.heard)
	return err
}

// finish tells everybody, once, that this PE will send no more, if all it sent was taken.
func (m *mailman) finish() {
	if m.done {
		return
	}
	for pe, n := range m.sent {
		if m.far[pe] && m.emptied(pe) != n {
			return
		}
	}
	m.done = true
	for pe := range m.far {
		m.tally.Done().Add(pe, 1)
		m.ring(pe)
	}
}

// over reports whether no PE will send any more, and all was taken.
func (m *mailman) over() bool {
	return !m.used || m.tally.Done().Fetch(m.w.PE()) == int64(m.w.NPEs())
}
