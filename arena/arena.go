// Package arena holds records of different lengths in symmetric memory: strings, byte slices, and slices of plain data.
// An Arena is as many bytes of every PE as the program asks for. Any PE stores a record in the part of any PE, and gets
// a Handle: 8 bytes without a pointer, which can itself stand in symmetric memory, in atomic words and in messages, and
// by which every PE reads the record.
//
//	texts, err := arena.New(ctx, w, 1<<20)   // on all PEs together
//	h, err := texts.StoreString(3, "a name") // in the memory of PE 3
//	names.At(i).Put(0, h)                    // a handle is plain data
//	s := texts.LoadString(h)                 // on any PE
//
// # Completion and order
//
// A record is stored as by a put on the default context: Store may reuse its source when it returns, and the record is
// visible to a PE that learns of the handle in an order that a Fence (the record and the handle on the same PE), a
// Quiet, or a Barrier makes. Load waits for what it reads.
//
// # Concurrency
//
// Any goroutine of any PE may store, load and free at any time; allocation and freeing are lock-free. New, Reset and
// Close are collective. A record does not move: it lives until Free, Reset or Close.
//
// # Memory
//
// A record takes its bytes and 8 more, rounded up to 16, and beyond 64 up to a quarter of a power of two. Freed records
// are used again for records of about their size. A PE uses freed memory first where it is near (on this host), and
// fresh memory first on another host, where each look takes a round trip.
//
// # Errors
//
// A full part is a *FullError. Misuse panics with *pgas.UsageError: the zero handle, one from before a Reset, one of a
// freed record (found by Free, and by every access to a record of 4,095 elements or more, and to all records with
// PGAS_CHECK=1), a PE that is not there. A PE that is lost during a call is a panic with *pgas.PeerError, as in a Get.
package arena

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// An Arena is memory for records on every PE. Its methods and the functions of the package panic with *pgas.UsageError
// if it is nil, zero or closed.
type Arena struct {
	w          *pgas.World
	mem        pgas.Sym[granule]
	words      pgas.Sym[uint64] // the words of each PE: see alloc.go
	granules   uint64           // the granules of each PE; the first is not used
	generation atomic.Uint64    // grows with each Reset; handles carry its last bits
	near       []bool           // whether each PE is on this host
	fresh      []atomic.Uint64  // the first granule of each PE that was never allocated, when this PE last looked
	closed     atomic.Bool
}

// A granule is what a record takes a whole number of. The first word of a record is its header (alloc.go).
type granule [granuleBytes / 8]uint64

const (
	granuleBytes = 16
	headerBytes  = 8

	// MaxBytes is the most that New gives each PE.
	MaxBytes = (1<<granuleBits - 1) * granuleBytes
)

// New makes an arena with room for that many bytes of records and their headers on every PE. It is collective over all
// PEs, with the same number on each, and contains barriers, as pgas.Alloc does. It takes memory only where records are
// stored. It returns the errors of pgas.Alloc: *pgas.HeapFullError and those of a collective. It panics with
// *pgas.UsageError if bytesPerPE is less than 16 or more than MaxBytes, or if the job has more than MaxPEs.
func New(ctx context.Context, w *pgas.World, bytesPerPE int) (*Arena, error) {
	if bytesPerPE < granuleBytes || bytesPerPE > MaxBytes {
		misuse("New", "%d bytes for each PE: give a number from %d to %d", bytesPerPE, granuleBytes, MaxBytes)
	}
	if w != nil && w.NPEs() > MaxPEs {
		misuse("New", "the job has %s, and a handle can name %d", plural.Count(w.NPEs(), "PE"), MaxPEs)
	}
	a := &Arena{w: w, granules: 1 + uint64(bytesPerPE+granuleBytes-1)/granuleBytes}
	var err error
	if a.mem, err = pgas.Alloc[granule](ctx, w, int(a.granules)); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	if a.words, err = pgas.Alloc[uint64](ctx, w, numWords); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	a.near = make([]bool, w.NPEs())
	a.fresh = make([]atomic.Uint64, w.NPEs())
	for pe := range a.near {
		a.near[pe] = a.words.Ptr(pe) != nil
	}
	a.empty()
	if err := w.Barrier(ctx); err != nil { // no PE stores before all parts are ready
		return nil, fmt.Errorf("arena: %w", err)
	}
	return a, nil
}

// Reset drops all records. It is collective over all PEs and contains two barriers: no PE drops records before all PEs
// have called it, and all parts are empty when it returns. Handles from before it are misuse after it, and are found:
// those of the last seven generations always. It returns the errors of a barrier, after which the arena cannot be used.
func (a *Arena) Reset(ctx context.Context) error {
	a.mustBeOpen("Reset")
	if err := a.w.Barrier(ctx); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	a.generation.Add(1)
	a.empty()
	if err := a.w.Barrier(ctx); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	return nil
}

// empty makes this PE's part empty, and forgets what this PE knows of other parts. No PE stores meanwhile.
func (a *Arena) empty() {
	me := a.w.PE()
	a.word(freshWord).Set(me, 1)
	for class := range numClasses {
		a.word(class).Set(me, 0)
	}
	for pe := range a.fresh {
		a.fresh[pe].Store(1)
	}
}

// Close frees the memory of the arena. It is collective over all PEs, as pgas.Sym.Free is, and returns its errors.
func (a *Arena) Close(ctx context.Context) error {
	a.mustBeOpen("Close")
	if err := a.mem.Free(ctx); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	a.closed.Store(true)
	if err := a.words.Free(ctx); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	return nil
}

// Used returns how many bytes of the part of PE pe were ever allocated since New or Reset, freed ones included. It is a
// fetch from pe. It panics with *pgas.UsageError if pe is out of range.
func (a *Arena) Used(pe int) int {
	a.mustBeOpen("Used")
	return int(a.word(freshWord).Fetch(pe)-1) * granuleBytes
}

// mustBeOpen panics with *pgas.UsageError if a may not be used.
func (a *Arena) mustBeOpen(op string) {
	if a == nil || a.w == nil {
		misuse(op, "a nil or zero Arena (it was made by no New): use the one that New has returned")
	}
	if a.closed.Load() {
		misuse(op, "the arena is closed")
	}
}

// misuse panics with a *pgas.UsageError.
func misuse(op, format string, args ...any) {
	hook.Misuse("arena."+op, format, args...)
}
