package pgas

// Agreement in collective calls. Before a collective call changes anything, every PE leaves a record
// of what it asks for in its own heap, all meet, and each reads everybody's record. When they differ,
// every PE returns the same error, which says who called what, instead of hanging or corrupting the
// heap. Records alternate between two places, so the next call cannot overwrite one that somebody still
// reads: it ends with a meeting of its own, by which time all have read the last.

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	recordsOff  = 8192
	recordBytes = 128
	recordName  = 40 // offset of the name in a record
)

// A record is what one PE asks for.
type record struct {
	seq    uint64 // of the collective call
	kind   uint64 // of the call: see below
	n      uint64 // elements, or the offset of the block
	size   uint64 // bytes of an element
	layout uint64 // hash of the element's layout
	name   string // of the element's type
}

const (
	callAlloc = iota + 1
	callFree
	callRealloc
	callClose
)

var callNames = [...]string{"?", "alloc", "free", "realloc", "close"}

func (r record) String() string {
	switch r.kind {
	case callAlloc, callRealloc:
		s := fmt.Sprintf("%s of %d × %s (%d bytes each", callNames[r.kind], r.n, r.name, r.size)
		if r.layout != 0 {
			s += fmt.Sprintf(", layout %016x", r.layout)
		}
		return s + ")"
	case callFree:
		return fmt.Sprintf("free of the block at offset %d", r.n)
	case callClose:
		return "close"
	}
	return "no collective call yet"
}

func (r record) encode() (b [recordBytes]byte) {
	for i, v := range [...]uint64{r.seq, r.kind, r.n, r.size, r.layout} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	name := r.name
	if room := recordBytes - recordName - 1; len(name) > room {
		name = name[len(name)-room:] // the end of an import path tells more than its start
	}
	b[recordName] = byte(copy(b[recordName+1:], name))
	return b
}

func decodeRecord(b []byte) record {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	n := min(int(b[recordName]), recordBytes-recordName-1)
	return record{word(0), word(1), word(2), word(3), word(4), string(b[recordName+1 : recordName+1+n])}
}

// agree is the start of every collective call: it returns nil when all PEs made the same one, and a
// *MismatchError when they did not. It quiets the default context and no other.
func (w *World) agree(ctx context.Context, r record) error {
	w.callSeq++
	r.seq = w.callSeq
	off := recordsOff + w.callSeq%2*recordBytes
	mine := r.encode()
	copy(w.mine[off:], mine[:])
	if err := w.Barrier(ctx); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	all := make([][recordBytes]byte, w.job.NPEs)
	for pe := range all {
		w.def.via[pe].GetNB(pe, all[pe][:], off)
	}
	if err := w.def.Quiet(ctx); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return compareRecords(r, mine, all)
}

func compareRecords(r record, mine [recordBytes]byte, all [][recordBytes]byte) error {
	same := true
	for _, rec := range all {
		same = same && rec == mine
	}
	if same {
		return nil
	}
	e := &MismatchError{Call: r.String()}
	seen := map[[recordBytes]byte]bool{}
	for _, rec := range all {
		if seen[rec] {
			continue
		}
		seen[rec] = true
		var who []string
		for pe := range all {
			if all[pe] == rec {
				who = append(who, fmt.Sprint(pe))
			}
		}
		e.Calls = append(e.Calls, fmt.Sprintf("PE %s: %s", strings.Join(who, ","), decodeRecord(rec[:])))
	}
	return e
}

var _ [boot.ReservedBytes - recordsOff - 2*recordBytes]byte
var _ [recordsOff - roundsOff - maxRounds*wordStride]byte
