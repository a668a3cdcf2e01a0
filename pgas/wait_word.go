package pgas

// The program's waits for one word.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// waitWord blocks until the own word at compares true with v.
func (w *World) waitWord(ctx context.Context, at transport.Word, cmp Cmp, v uint64, signed bool) (uint64, error) {
	return w.awaitWord(ctx, w.n.wordCond(at, cmp, v, signed))
}

// awaitWord blocks until c holds, for an operation of the program.
func (w *World) awaitWord(ctx context.Context, c cond) (uint64, error) {
	checkCmp(c.cmp)
	if w.refuses(ctx) {
		return 0, w.refusal(ctx, "waiting for "+w.n.wordName(c.word.Off))
	}
	got, err := w.n.await(ctx, c, blockedIn{op: boot.InWait, peer: -1, seq: c.word.Off})
	if err != nil {
		return got, fmt.Errorf("waiting for %s to be %s %s (it is %s)%s: %w", w.n.wordName(c.word.Off), c.cmp, c.number(c.want), c.number(got), atSite(), err)
	}
	return got, nil
}

// checkCmp panics with *UsageError if how is no comparison.
func checkCmp(how Cmp) {
	if how > LE {
		misuse("wait", "unknown comparison %d: use EQ, NE, GT, GE, LT or LE", uint8(how))
	}
}
