package pgas

// Agreement about the arguments of a collective call: one that changes the heap, or one of a library above pgas. Before
// the call does anything, every PE publishes a record of its request, and a barrier compares the records
// (internal/coll/allequal.go). If they differ, each PE reads the records of all PEs. Every PE then returns the same
// error, which names the call of each PE, and nothing has changed.

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"
)

const (
	recordBytes = 256
	recordName  = 40 // offset of the name in a record
	nameMax     = recordBytes - recordName - 1
)

// allocRequest is the request of one PE.
type allocRequest struct {
	kind   uint64 // requestAlloc, requestFree or requestAgree
	n      uint64 // number of elements, or offset of the block, or length of the text
	size   uint64 // size of an element in bytes
	layout uint64 // hash of the element's layout, or of the text of a call to Agree
	align  uint64 // bytes that the address is to be a multiple of
	name   string // name of the element's type, or text of a call to Agree
}

const (
	requestAlloc = iota + 1
	requestFree
	requestAgree
)

var requestNames = [...]string{"?", "alloc", "free", "agree"}

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
	case requestAgree:
		if r.n > uint64(len(r.name)) {
			return fmt.Sprintf("%s… (digest %016x)", r.name, r.layout) // the texts may differ in what is left out
		}
		return r.name
	}
	return "no collective call yet"
}

func (r allocRequest) encode() (b [recordBytes]byte) {
	for i, v := range [...]uint64{r.kind, r.n, r.size, r.layout, r.align} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	name := r.name
	if len(name) > nameMax {
		name = name[len(name)-nameMax:] // the end of an import path tells more than its start
	}
	b[recordName] = byte(copy(b[recordName+1:], name))
	return b
}

func decodeRecord(b []byte) allocRequest {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	n := min(int(b[recordName]), nameMax)
	return allocRequest{word(0), word(1), word(2), word(3), word(4), string(b[recordName+1 : recordName+1+n])}
}

// Agree compares a collective call of a library above pgas on all PEs, before the call does anything: op is its name
// and args are its arguments, which are written as fmt.Sprint writes them, so they are to be values and not addresses.
// It is collective over all PEs and contains a barrier, which quiets the default context and no other.
//
// It returns nil on every PE if op and args are the same on all of them, and otherwise *MismatchError on every PE, with
// the call of each. As every collective, it also returns *MismatchError if a PE calls another collective, *PeerError if
// a PE is lost, the cause of ctx if ctx ends first, *AbortedError if another PE has given up the call, and an error if
// the World is closed. It panics with *UsageError if w is nil or ctx is nil.
func Agree(ctx context.Context, w *World, op string, args ...any) error {
	w.mustBeOpen("Agree")
	mustHaveContext("Agree", ctx)
	return w.agree(ctx, agreeRequest(op, args))
}

// agreeRequest returns the request of a call to Agree. A text that is too long for a record keeps its start, and the
// digest tells it from others.
func agreeRequest(op string, args []any) allocRequest {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = fmt.Sprint(a)
	}
	text := op + "(" + strings.Join(words, ", ") + ")"
	digest := fnv.New64a()
	digest.Write([]byte(text))
	kept := strings.ToValidUTF8(text[:min(len(text), nameMax)], "") // a cut inside of a character leaves none of it
	return allocRequest{kind: requestAgree, n: uint64(len(text)), layout: digest.Sum64(), name: kept}
}

// agree starts every call that changes the heap, and compares those of Agree. It is collective and quiets the default
// context and no other. It returns nil if all PEs made the same request and *MismatchError if they did not, or the
// errors of a collective call.
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
	return mismatch(r.String(), said)
}
