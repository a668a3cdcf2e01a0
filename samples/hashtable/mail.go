package main

// Counts for homes on other hosts. A compare-swap over a network costs a round trip, and most identifiers
// are new to a table, so the updates of a batch are sent to such a home together, as a parcel: one put
// with signal. The home adds the parcel to its own pending counts, and so to its volume with its next
// merge, by the same compare-swaps as the PEs of its host. With -direct there are no parcels, and every
// PE makes its updates itself, over the network too.
//
// A home has boxes for each sender. A sender that finds them in use keeps its counts for a later merge:
// no PE waits for room. The signal Mail is raised for everything that a PE may be waiting for: parcels,
// emptied boxes, calls to a meeting, ends.
//
// Invariant: the counts of a parcel are pending at its sender until it is put, then in the box, then
// pending at the home; Taken tells the sender of the last step. So when all PEs are Done, with nothing left
// to send and every box emptied, the sum of tables and pending counts is complete.

import (
	"context"
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/source"
)

// boxesEach is how many parcels of one sender a home can hold.
const boxesEach = 2

// A mailman is one PE's part in sending and receiving.
type mailman struct {
	w     *pgas.World
	tally TallyRef
	boxes BoxSym   // boxes 2s and 2s+1 of a PE hold parcels of sender s
	far   []bool   // by PE: reached by parcels
	used  bool     // there are such PEs
	sent  []uint64 // by home: parcels put there
	taken []uint64 // by sender: parcels that this PE has taken out
	text  []byte   // the parcel being packed
	heard uint64   // the last known value of Mail
	done  bool     // all PEs have been told that this one is done
}

// newMailman makes the boxes. far[pe] says whether that PE gets parcels. It is collective.
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

// box returns the box of parcel number i of sender.
func (m *mailman) box(sender int, i uint64) BoxRef {
	return m.boxes.At(sender*boxesEach + int(i%boxesEach))
}

// send packs counts of words, whose home is pe, into parcels as long as there are free boxes, and returns the
// rest. A name that fits no parcel stays in that rest: see fits.
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

// emptied returns how many parcels of this PE pe has taken.
func (m *mailman) emptied(pe int) uint64 { return m.box(pe, 0).FetchTaken(m.w.PE()) }

// pack fills text with the first words, as many as fit, and returns how many those are.
func (m *mailman) pack(words []*word) int {
	m.text = m.text[:0]
	for i, w := range words {
		if len(m.text)+packed(w) > boxBytes {
			return i
		}
		m.text = source.AppendFrequency(m.text, source.Frequency{Name: w.name, Count: w.pending})
		w.pending = 0
	}
	return len(words)
}

// packed returns the most bytes that w takes in a parcel.
func packed(w *word) int { return len(w.name) + 2*binary.MaxVarintLen64 }

// fits reports whether w can be sent.
func fits(w *word) bool { return packed(w) <= boxBytes }

// receive calls f for every count that has arrived.
func (m *mailman) receive(f func(name []byte, count int64)) {
	m.heard = m.tally.Mail().Fetch() // before the boxes are read, so that a later arrival raises it again
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
	source.EachFrequency(b.Text().Local()[:uint32(arrived)], f)
	m.taken[sender]++
	m.box(m.w.PE(), 0).SetTaken(sender, m.taken[sender])
	m.ring(sender)
	return true
}

// ring raises Mail of pe, after the puts that this PE has issued before.
func (m *mailman) ring(pe int) {
	m.w.Context().FencePE(pe)
	m.tally.Mail().Add(pe, 1)
}

// waiting reports whether Mail has been raised since the last receive.
func (m *mailman) waiting() bool { return m.tally.Mail().Test(pgas.NE, m.heard) }

// wait blocks until Mail has been raised since the last receive.
func (m *mailman) wait(ctx context.Context) error {
	_, err := m.tally.Mail().WaitUntil(ctx, pgas.NE, m.heard)
	return err
}

// finish tells all PEs, once, that this PE will send no more, if all its parcels were taken.
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

// over reports whether no PE will send any more, and all parcels were taken.
func (m *mailman) over() bool {
	return !m.used || m.tally.Done().Fetch(m.w.PE()) == int64(m.w.NPEs())
}
