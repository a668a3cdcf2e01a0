package pgas

// The program's waits for one word.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// waitWord blocks until this PE's own word at the given place compares true with v, and returns the value that did.
func (w *World) waitWord(ctx context.Context, at transport.Word, cmp Cmp, v uint64, signed bool) (uint64, error) {
	return w.awaitWord(ctx, w.n.WordCond(at, cmp, v, signed))
}

// awaitWord blocks until c holds, for an operation of the program, and returns the value that compared true. Its
// errors are those of Atomic.WaitUntil.
func (w *World) awaitWord(ctx context.Context, c node.Cond) (uint64, error) {
	checkCmp(c.Cmp)
	if w.refuses(ctx) {
		return 0, w.refusal(ctx, "waiting for "+w.n.WordName(c.Word.Off))
	}
	got, err := w.n.Await(ctx, c, node.Blocked{Op: boot.InWait, Peer: -1, Seq: c.Word.Off})
	if err != nil {
		return got, fmt.Errorf("waiting for %s to be %s %s (it is %s)%s: %w", w.n.WordName(c.Word.Off), c.Cmp, c.Number(c.Want), c.Number(got), callsite.At(), err)
	}
	w.looked(ctx, c.Word.Off, uint64(c.Word.Bytes))
	return got, nil
}

// checkCmp panics with *UsageError if how is no comparison.
func checkCmp(how Cmp) {
	if how > LE {
		misuse("wait", "unknown comparison %d: use EQ, NE, GT, GE, LT or LE", uint8(how))
	}
}

// Cmp is the comparison of a wait or a test: EQ, NE, GT, GE, LT or LE. The word is on the left side, the value on the
// right.
type Cmp = transport.Cmp

// The comparisons: equal, not equal, greater, greater or equal, less, less or equal.
const (
	EQ = transport.EQ
	NE = transport.NE
	GT = transport.GT
	GE = transport.GE
	LT = transport.LT
	LE = transport.LE
)

// looked tells the detector of races, if there is one, that this PE has looked at words of its own memory, and may have
// learned from them.
func (w *World) looked(ctx context.Context, off, bytes uint64) {
	if w.n.Races != nil {
		w.n.Races.Looked(ctx, off, bytes)
	}
}
