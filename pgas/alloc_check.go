package pgas

// Agreement about the heap. Before a collective call changes the heap, every PE leaves a record of what it asks for, and a
// barrier tells whether all records are equal (internal/coll). When they are not, each PE reads the records of all, and
// every PE returns the same error, which lists the calls, in place of a corrupt heap.

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

const (
	recordBytes = 128
	recordName  = 40 // offset of the name in a record
)

// A record is what one PE asks for.
type allocRequest struct {
	kind   uint64 // of the call: see below
	n      uint64 // elements, or the offset of the block
	size   uint64 // bytes of an element
	layout uint64 // hash of the element's layout
	align  uint64 // bytes that the address is to be a multiple of
	name   string // of the element's type
}

const (
	requestAlloc = iota + 1
	requestFree
	callRealloc
	callClose
)

var requestNames = [...]string{"?", "alloc", "free", "realloc", "close"}

func (r allocRequest) String() string {
	switch r.kind {
	case requestAlloc, callRealloc:
		s := fmt.Sprintf("%s of %d × %s (%d bytes each", requestNames[r.kind], r.n, r.name, r.size)
		if r.layout != 0 {
			s += fmt.Sprintf(", layout %016x", r.layout)
		}
		if r.align > 0 {
			s += fmt.Sprintf(", aligned to %d", r.align)
		}
		return s + ")"
	case requestFree:
		return fmt.Sprintf("free of the block at offset %#x", r.n)
	case callClose:
		return "close"
	}
	return "no collective call yet"
}

func (r allocRequest) encode() (b [recordBytes]byte) {
	for i, v := range [...]uint64{r.kind, r.n, r.size, r.layout, r.align} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	name := r.name
	if room := recordBytes - recordName - 1; len(name) > room {
		name = name[len(name)-room:] // the end of an import path tells more than its start
	}
	b[recordName] = byte(copy(b[recordName+1:], name))
	return b
}

func decodeRecord(b []byte) allocRequest {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	n := min(int(b[recordName]), recordBytes-recordName-1)
	return allocRequest{word(0), word(1), word(2), word(3), word(4), string(b[recordName+1 : recordName+1+n])}
}

// agree is the start of every call that changes the heap: it returns nil when all PEs made the same one,
// and a *MismatchError when they did not. It quiets the default context and no other.
func (w *World) agree(ctx context.Context, r allocRequest) error {
	if err := w.team.quiet(ctx); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	mine := r.encode()
	all, err := w.team.g.GatherIfDifferent(ctx, mine[:])
	if err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	if all == nil {
		return nil
	}
	said := make([]string, len(all))
	for pe, b := range all {
		said[pe] = decodeRecord(b).String()
	}
	return &MismatchError{Call: r.String(), Calls: coll.GroupByCall(said)}
}
