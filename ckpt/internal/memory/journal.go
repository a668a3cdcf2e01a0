package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// A Journal has the records of a PE since its last cut. They are in the memory of its host, and, after Sync, in the
// heap of its buddy. The agent of that host keeps them there when the PEs of the term have ended.
//
// There are two areas, for cuts of even and of odd versions, as there are two slots for images: records since a cut may
// be needed until the next one is safe, and those since the next one are elsewhere.
type Journal struct {
	m     *Memory
	bytes int // the size of an area
	buddy int // -1: there is none
	row   int // which row of its place the buddy has for this PE
	heap  pgas.Sym[byte]

	mu   sync.Mutex // guards what follows
	mark vault.Mark // the cut since which the records are
	tag  uint64     // the tag of these records
	b    []byte     // the memory for records on this host
	used int        // how many bytes of b have records
	// paused: a Save is under way or has failed, or the job ends.
	paused bool
	sync   syncedBytes // how many of these the buddy has
}

// syncedBytes is how much of a journal the buddy has.
type syncedBytes struct {
	mu sync.Mutex // held while bytes are on their way
	n  int
}

// NewJournal makes the journal of a PE, with room for so many bytes of records between two cuts. share publishes where
// in the heap of this PE journals of other PEs are, and how many. NewJournal is collective, after Join.
func (m *Memory) NewJournal(ctx context.Context, bytes int, share func(areas []byte, n int)) (*Journal, error) {
	j := &Journal{m: m, bytes: bytes, buddy: -1}
	if len(m.hosts) == 1 {
		return j, nil
	}
	j.buddy, j.row = m.buddyOf(m.w.PE())
	rows := 0
	for pe := range m.w.NPEs() {
		_, row := m.buddyOf(pe)
		rows = max(rows, row)
	}
	var err error
	if j.heap, err = pgas.Alloc[byte](ctx, m.w, 2*rows*j.stride()); err == nil {
		share(j.heap.Local(), 2*rows)
	}
	return j, err
}

// stride is how many bytes of the heap an area takes.
func (j *Journal) stride() int { return vault.HeadBytes + vault.SizeOf(j.bytes) }

// at returns where in the heap of the buddy the area is that begins with a cut.
func (j *Journal) at() int { return (2*(j.row-1) + which(j.mark.Cut)) * j.stride() }

// Turn begins the journal since a cut. The cut before is safe, so nobody needs the journal that was in its area.
func (j *Journal) Turn(ctx context.Context, c image.Cut, job uint64) error {
	s, err := j.m.slot(place{j.m.w.PE(), 0, vault.Journals + which(c)})
	if err != nil {
		return err
	}
	s.Clear()
	b, err := s.Grow(uint64(j.bytes))
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.mark = vault.Mark{Cut: c, Job: job, PE: uint32(j.m.w.PE()), PEs: uint32(j.m.w.NPEs()), Bytes: uint64(j.bytes)}
	j.b, j.tag, j.used, j.sync.n, j.paused = b[:j.bytes], vault.Tag(j.mark), 0, 0, false
	j.mu.Unlock()
	s.Set(j.mark)
	if j.buddy < 0 {
		return nil
	}
	j.heap.Range(j.at(), j.at()+vault.HeadBytes).Put(j.buddy, vault.Head(j.mark))
	return j.m.w.Quiet(ctx)
}

// ErrNotBegun is the error of Append before the first Turn.
var ErrNotBegun = errors.New("no journal has begun")

// Pause makes Append fail, or not any more. Turn also ends that.
func (j *Journal) Pause(paused bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.paused = paused
}

// Append appends a record that consists of parts.
func (j *Journal) Append(parts ...[]byte) error {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	size := vault.SizeOf(n)
	switch {
	case j.paused:
		return errors.New("a Save is under way or has failed, or the job ends: append before or after a Save, and save anew after a failure")
	case j.b == nil:
		return ErrNotBegun
	case uint64(n) > math.MaxUint32 || size > len(j.b)-j.used:
		return fmt.Errorf("%d of %d bytes are used since the last cut, and a record takes %d: save more often, or give it more bytes", j.used, len(j.b), size)
	}
	vault.PutRecord(j.b[j.used:], j.tag, parts...)
	j.used += size
	return nil
}

// IsHalfFull reports whether half of the room is used.
func (j *Journal) IsHalfFull() bool { return j.end() > j.bytes/2 }

// end returns how many bytes the records have.
func (j *Journal) end() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.used
}

// Sync returns when the buddy has what was appended before.
func (j *Journal) Sync(ctx context.Context) error {
	used := j.end()
	if j.buddy < 0 {
		return nil
	}
	j.sync.mu.Lock()
	defer j.sync.mu.Unlock()
	if used <= j.sync.n {
		return nil // another goroutine has brought it
	}
	used = j.end()
	at := j.at() + vault.HeadBytes
	j.heap.Range(at+j.sync.n, at+used).Put(j.buddy, j.b[j.sync.n:used])
	if err := j.m.w.Quiet(ctx); err != nil {
		return err
	}
	j.sync.n = used
	return nil
}

// Records returns the records of PEs of a job since a cut, of those PEs that this one replays, each PE's in their
// order. All PEs serve. A PE of which there is no journal had not begun one: its image is on a host that would have it.
func (m *Memory) Records(ctx context.Context, c image.Cut, job uint64, pes int) (all [][]byte, err error) {
	for pe := m.w.PE(); pe < pes; pe += m.w.NPEs() {
		for version := c.Version; version <= c.Version+1; version++ {
			x := m.journalOf(pe, image.Cut{Term: c.Term, Version: version}, job)
			if x == nil {
				continue // it has not come so far
			}
			b := make([]byte, x.Mark.Bytes)
			if err := m.read(ctx, x.Place, x.Mark.Cut, 0, b); err != nil {
				return nil, fmt.Errorf("the journal of PE %d since cut %v: %w", pe, x.Mark.Cut, err)
			}
			end := 0
			for at, record := range vault.Records(b, vault.Tag(x.Mark)) {
				all, end = append(all, record), at
			}
			if end != len(b) {
				return nil, fmt.Errorf("the journal of PE %d since cut %v: %w: it ends after %s of %d", pe, x.Mark.Cut, image.ErrDamaged, plural.Count(end, "byte"), len(b))
			}
		}
	}
	return all, nil
}

// journalOf returns the journal of a PE since a cut: that of its own host, which has the most, rather than what its
// buddy has. It returns nil if there is none.
func (m *Memory) journalOf(pe int, c image.Cut, job uint64) (found *kept) {
	for i := range m.journals {
		x := &m.journals[i]
		if int(x.Mark.PE) == pe && x.Mark.Cut == c && x.Mark.Job == job && (found == nil || x.Place.row == 0) {
			found = x
		}
	}
	return found
}
