package dsm

// What tests see of the protocol's words.

import (
	"context"
	"errors"
)

// InQueue reports whether pe has asked for its turn at block b of r or has it. The answer may take a message.
func InQueue(r *Region, b, pe int) bool { return r.words.lock.At(b).Fetch(pe) == locked }

// ReleaseHeld is Release, but calls hold when this PE has turns that it asked for, and gives them away after that.
func ReleaseHeld(ctx context.Context, r *Region, hold func() error) error {
	change := (&floating{r}).change
	if p, ok := r.protocol.(*fixedHome); ok {
		change = p.change
	}
	return r.fence(ctx, func() error {
		return r.takeTurns(ctx, r.cache.written(nil), func(got []*turn) error {
			if len(got) == 0 {
				return nil
			}
			return errors.Join(hold(), change(got))
		})
	})
}
