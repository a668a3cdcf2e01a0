package messages

// The protocol. Each PE has, for each other one, slots for eager messages, and four words: how many
// messages have arrived from it, how many of those to it have been taken out of its slots, where it
// wants the long message that waits, and how many long ones have arrived. A PE that changes such a word wakes the
// word's owner, so one wait covers all of them.
//
// Each word has one writer, and a PE waits until any word differs from its last known value. All but the answers
// only count up. One answer at a time is under way from one PE to another, because the PE that has given it waits for
// the message.

import (
	"context"
	"math"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// The words that a PE has for each other.
const (
	arrivals = iota // messages that the other PE has put into the slots
	credits         // messages of this PE that the other has taken out of its slots
	answers         // where the other PE wants a long message; and in the upper half, which one
	landings        // long messages that the other PE has put into the window
	kinds
)

// header is the length of what precedes the floats of a slot: tag and length.
const header = 2

type wire struct {
	w      *pgas.World
	o      Options
	window pgas.Slice[float64]
	slots  pgas.Sym[float64]
	words  pgas.Sym[pgas.Signal]
	set    *pgas.WaitSet[uint64]
	seen   []uint64 // of words: their last known values

	sent   []uint64 // by PE: messages to it
	taken  []uint64 // by PE: messages from it
	long   []uint64 // by PE: long messages from it
	wanted []uint64 // by PE: those that it has been asked for
	letter []float64
	spare  [][]float64

	debts []debts // by PE: long messages to it
	owed  int     // long messages not sent, to all PEs
}

// debts are long messages to a PE.
type debts struct {
	open       []debt
	made, paid uint64
}

// A debt is a long message that its receiver knows of, and has not yet asked for.
type debt struct {
	nth  uint64
	data []float64
}

func (l *wire) open(ctx context.Context) (err error) {
	n := l.w.NPEs()
	if l.slots, err = pgas.AllocRaw[float64](ctx, l.w, n*l.o.Slots*(header+l.o.Eager)); err != nil {
		return err
	}
	if l.words, err = pgas.Alloc[pgas.Signal](ctx, l.w, kinds*n); err != nil {
		return err
	}
	l.seen = make([]uint64, kinds*n)
	l.set = pgas.SignalsOf(l.words.All()).UntilEach(pgas.NE, l.seen)
	l.sent, l.taken, l.long, l.wanted = make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
	l.debts = make([]debts, n)
	l.letter = make([]float64, 0, header+l.o.Eager)
	return nil
}

func (l *wire) close(ctx context.Context) error {
	if err := l.words.Free(ctx); err != nil {
		return err
	}
	return l.slots.Free(ctx)
}

// word returns the word of that kind that a PE has for pe.
func (l *wire) word(kind, pe int) pgas.SignalRef { return pgas.SignalOf(l.words, kind*l.w.NPEs()+pe) }

// look returns the value of a word of this PE.
func (l *wire) look(kind, pe int) uint64 {
	v := l.word(kind, pe).Fetch()
	l.seen[kind*l.w.NPEs()+pe] = v
	return v
}

// news waits until a word has changed. If messages have arrived in slots, they are those of pe, and n
// have arrived from it in all.
func (l *wire) news(ctx context.Context) (pe int, n uint64, err error) {
	i, v, err := l.set.WaitAny(ctx)
	if err != nil {
		return 0, 0, err
	}
	pe, n = l.told(i, v)
	return pe, n, nil
}

// glance does what news does, without waiting. It reports whether a word has changed.
func (l *wire) glance() (pe int, n uint64, ok bool) {
	i, v := l.set.TestAny()
	if i < 0 {
		return 0, 0, false
	}
	pe, n = l.told(i, v)
	return pe, n, true
}

// told handles that a word has become v.
func (l *wire) told(i int, v uint64) (pe int, n uint64) {
	l.seen[i] = v
	switch pe = i % l.w.NPEs(); i / l.w.NPEs() {
	case arrivals:
		return pe, v
	case answers:
		l.pay(pe, v>>32, int(uint32(v)))
	}
	return 0, 0
}

// slot returns the slot that a PE has for message number i of pe.
func (l *wire) slot(pe int, i uint64) pgas.Slice[float64] {
	at := (pe*l.o.Slots + int(i%uint64(l.o.Slots))) * (header + l.o.Eager)
	return l.slots.Range(at, at+header+l.o.Eager)
}

func (l *wire) hasSlot(pe int) bool {
	return l.sent[pe]-l.look(credits, pe) < uint64(l.o.Slots)
}

// lot is how many slots are given back at a time: a message for each slot would double the number of messages.
func (l *wire) lot() uint64 { return uint64(max(l.o.Slots/2, 1)) }

// put puts a message into a slot of pe: without data, only its announcement.
func (l *wire) put(pe, tag, n int, data []float64) {
	letter := append(l.letter[:0], math.Float64frombits(uint64(tag)), float64(n))
	letter = append(letter, data...)
	me := l.w.PE()
	l.w.Fence() // so that the count proves the messages before it, too
	l.slot(me, l.sent[pe]).Range(0, len(letter)).PutSignal(pe, letter, l.word(arrivals, me), l.sent[pe]+1)
	l.sent[pe]++
}

// take takes the next message of pe out of its slot.
func (l *wire) take(pe int) message {
	slot := l.slot(pe, l.taken[pe]).Local()
	m := message{Status: Status{pe, int(math.Float64bits(slot[0])), int(slot[1])}}
	if m.waiting = m.Len > l.o.Eager; m.waiting {
		l.long[pe]++
		m.nth = l.long[pe]
	} else {
		m.data = append(l.buffer(), slot[header:header+m.Len]...)
	}
	l.taken[pe]++
	if l.taken[pe]%l.lot() == 0 {
		l.word(credits, l.w.PE()).Set(pe, l.taken[pe])
	}
	return m
}

func (l *wire) buffer() []float64 {
	if n := len(l.spare); n > 0 {
		b := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return b[:0]
	}
	return make([]float64, 0, l.o.Eager)
}

// recycle keeps a buffer for the next message.
func (l *wire) recycle(b []float64) {
	if cap(b) >= l.o.Eager {
		l.spare = append(l.spare, b)
	}
}

// owe records that pe has been told of a long message, which is number nth of those to it.
func (l *wire) owe(pe int, data []float64) (nth uint64) {
	d := &l.debts[pe]
	d.made++
	d.open = append(d.open, debt{d.made, data})
	l.owed++
	return d.made
}

// owes reports whether that message has not been sent.
func (l *wire) owes(pe int, nth uint64) bool { return l.debts[pe].find(nth) >= 0 }

func (d *debts) find(nth uint64) int {
	return slices.IndexFunc(d.open, func(o debt) bool { return o.nth == nth })
}

// pay puts the message that pe has asked for to its destination.
func (l *wire) pay(pe int, nth uint64, at int) {
	d := &l.debts[pe]
	i := d.find(nth)
	data := d.open[i].data
	d.open = slices.Delete(d.open, i, i+1)
	d.paid++
	l.owed--
	l.window.Range(at, at+len(data)).PutSignal(pe, data, l.word(landings, l.w.PE()), d.paid)
}

// ask tells the sender of m where to put it. It is the only message of that sender that is asked for, until it has
// arrived.
func (l *wire) ask(m message, at int) {
	l.wanted[m.From]++
	l.word(answers, l.w.PE()).Set(m.From, m.nth<<32|uint64(uint32(at)))
}

// landed reports whether all long messages that pe has been asked for have arrived.
func (l *wire) landed(pe int) bool { return l.look(landings, pe) >= l.wanted[pe] }
