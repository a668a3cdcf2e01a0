package pgas

// Agreement about the heap. Before a collective call changes the heap, every PE publishes a record of its request, and a
// barrier compares the records (internal/coll/allequal.go). If they differ, each PE reads the records of all PEs. Every
// PE then returns the same error, which names the call of each PE, and the heap is not corrupted.

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

// allocRequest is the request of one PE.
type allocRequest struct {
	kind   uint64 // of the call: requestAlloc or requestFree
	n      uint64 // elements, or the offset of the block
	size   uint64 // bytes of an element
	layout uint64 // hash of the element's layout
	align  uint64 // bytes that the address is to be a multiple of
	name   string // of the element's type
}

const (
	requestAlloc = iota + 1
	requestFree
)

var requestNames = [...]string{"?", "alloc", "free"}

func (r allocRequest) String() string {
	switch r.kind {
	case requestAlloc:
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

// agree starts every call that changes the heap. It is collective and quiets the default context and no other. It returns
// nil if all PEs made the same request and *MismatchError if they did not, or the errors of a collective call.
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
