package dsm

// What tests see of the protocol's words.

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

// InQueue reports whether pe has asked for its turn at block b of r or has it. The answer may take a message.
func InQueue(r *Region, b, pe int) bool {
	return r.fences.Words.Lock.At(b).Fetch(pe) == protocol.Locked
}

// ReleaseHeld is Release, but calls hold when this PE has turns that it asked for, and gives them away after that.
func ReleaseHeld(ctx context.Context, r *Region, hold func() error) error {
	s := &r.fences
	p := s.Protocol.(interface{ Change([]*protocol.Turn) error })
	return r.fence(ctx, func() error {
		return s.TakeTurns(ctx, s.Cache.Written(nil), func(got []*protocol.Turn) error {
			if len(got) == 0 {
				return nil
			}
			return errors.Join(hold(), p.Change(got))
		})
	})
}
