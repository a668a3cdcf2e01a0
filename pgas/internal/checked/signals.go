package checked

// Signals that one PE sets while another adds to them. Each PE notes its updates on a board in its own heap, which the
// other PEs of the host read. An update that finds one of the other kind by another PE is misuse if nothing can have
// ordered the two:
//
//   - Both PEs have returned from as many barriers of all PEs.
//   - Since the last of these, the second PE has learned nothing of others: it has only put and updated signals.
//
// What is ordered by calls of gopgas is never reported: such an order ends in something that the second PE learns. An
// order by a file, or by a Go channel between goroutine PEs, is not seen.

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
)

// A board has the latest notes of a PE. A note is a block of words: the number of the epoch plus 1, 0 while the note
// is written; the offset of the signal; its PE and kind; the site of the program's call.
const (
	noteWords  = 16
	boardNotes = 16
	siteWord   = 3
	// BoardWords is the size of a board.
	BoardWords = noteWords * boardNotes
)

// Board is the board of a PE.
type Board []atomic.Uint64

// Signals are the boards of the PEs of a host, as one of them sees them. Its zero value has none.
type Signals struct {
	boards []Board // the boards of the host's PEs, by PE - first
	first  int     // the first PE of the host
	me     int     // index of this PE in boards

	epoch   atomic.Uint64 // number of barriers of all PEs that this PE has returned from
	learned atomic.Uint64 // the last epoch in which this PE has learned something, plus 1

	mu    sync.Mutex
	notes uint64            // number of notes that this PE has made
	noted map[update]uint64 // the last epoch in which each update was noted
}

// update is a kind of update of one signal.
type update struct {
	pe  int
	off uint64
	add bool
}

// Open gives s the boards of the host's PEs: those of PE first and its successors, of which me is this PE.
func (s *Signals) Open(boards []Board, first, me int) {
	s.boards, s.first, s.me, s.noted = boards, first, me-first, map[update]uint64{}
	for i := range s.boards[s.me] {
		s.boards[s.me][i].Store(0)
	}
}

// Learn notes that this PE may have learned how far others are.
func (s *Signals) Learn() { s.learned.Store(s.epoch.Load() + 1) }

// Meet notes that this PE returns from a barrier of all PEs.
func (s *Signals) Meet() { s.epoch.Add(1) }

// Update notes an update of the signal at an offset of PE pe: an add, or else a set. It returns a description of an
// update of the other kind by another PE that nothing can have ordered, or "".
func (s *Signals) Update(pe int, off uint64, add bool) string {
	epoch, u := s.epoch.Load(), update{pe, off, add}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boards == nil || s.noted[u] == epoch+1 {
		return ""
	}
	s.noted[u] = epoch + 1
	s.note(epoch, u)
	if s.learned.Load() == epoch+1 {
		return ""
	}
	u.add = !add
	for i, b := range s.boards {
		if i == s.me {
			continue
		}
		for n := range boardNotes {
			if site, ok := b.read(n, epoch, u); ok {
				return fmt.Sprintf("PE %d, at %s, %s it", s.first+i, site, map[bool]string{true: "adds to", false: "sets"}[!add])
			}
		}
	}
	return ""
}

// note writes a note on the board of this PE, in place of the oldest one.
func (s *Signals) note(epoch uint64, u update) {
	n := s.boards[s.me][s.notes%boardNotes*noteWords:][:noteWords]
	s.notes++
	n[0].Store(0)
	n[1].Store(u.off)
	n[2].Store(u.word())
	site := callsite.Program()
	for i := siteWord; i < noteWords; i++ {
		var w uint64
		for k := range min(len(site), 8) {
			w |= uint64(site[k]) << (8 * k)
		}
		n[i].Store(w)
		site = site[min(len(site), 8):]
	}
	n[0].Store(epoch + 1)
}

// word packs the PE and the kind of an update.
func (u update) word() uint64 {
	w := uint64(u.pe) << 1
	if u.add {
		w |= 1
	}
	return w
}

// read returns the site of note n if that is of update u in an epoch.
func (b Board) read(n int, epoch uint64, u update) (site string, ok bool) {
	words := b[n*noteWords:][:noteWords]
	if words[0].Load() != epoch+1 || words[1].Load() != u.off || words[2].Load() != u.word() {
		return "", false
	}
	var text []byte
	for i := siteWord; i < noteWords; i++ {
		for w := words[i].Load(); w != 0; w >>= 8 {
			text = append(text, byte(w))
		}
	}
	return strings.TrimSpace(string(text)), words[0].Load() == epoch+1
}
