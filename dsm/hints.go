package dsm

// Hints: what a program knows of its next accesses, and releases of parts.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

// Prefetch asks for copies of the elements from lo to hi-1 that this PE does not have, and returns at once. A later
// access waits only for what has not come. It is a hint: if a PE that has some of them is lost, a later access says so.
// In the simulator it returns when the copies are there.
func (a Array[T]) Prefetch(lo, hi int) {
	a.mustHold("Prefetch", lo, hi)
	if a.checks.r.fences.Cache == nil || lo == hi {
		return
	}
	first, last := a.checks.r.memory.blocksOf(a.offset(lo), a.offset(hi))
	if a.checks.r.fences.Simulated {
		a.checks.r.ensure(first, last, false)
		return
	}
	a.checks.r.prefetches.start(func() {
		var lost error
		defer protocol.RecoverPeer(&lost)
		a.checks.r.ensure(first, last, false)
	})
}

// Publish is Release of the elements from lo to hi-1 only, by whole blocks. What this PE has written elsewhere waits
// for its next release. Errors: those of Release.
func (a Array[T]) Publish(ctx context.Context, lo, hi int) (Notice, error) {
	a.mustHold("Publish", lo, hi)
	return a.checks.r.releaseBlocks(ctx, func(written []int32) []int32 {
		first, last := a.checks.r.memory.blocksOf(a.offset(lo), a.offset(hi))
		var within []int32
		for _, b := range written {
			if b >= first && b < last {
				within = append(within, b)
			}
		}
		return within
	})
}

// Claim makes this PE the home of the blocks of the elements from lo to hi-1, before it writes them: the first release
// after that sends no message. Blocks with other elements move too. Protocols with fixed homes have nothing to move.
// Errors: those of Release.
func (a Array[T]) Claim(ctx context.Context, lo, hi int) error {
	a.mustHold("Claim", lo, hi)
	r := a.checks.r
	if r.fences.Cache == nil || r.fences.Traits.FixedHomes || lo == hi {
		return nil
	}
	first, last := r.memory.blocksOf(a.offset(lo), a.offset(hi))
	return r.fence(ctx, func() error {
		var all []int32
		for b := first; b < last; b++ {
			all = append(all, b)
		}
		r.ensure(first, last, true) // with twins: a merge of no changes makes a version
		return r.publish(ctx, all)
	})
}

// Pin keeps this PE's copies of the elements from lo to hi-1 when Options.CacheMax is exceeded, by whole blocks, until
// Unpin. It fetches nothing, and a newer version still replaces a copy. Pins do not add up: one Unpin ends them.
// Without CacheMax it has no effect. It panics with *pgas.UsageError if the range is not of the array.
func (a Array[T]) Pin(lo, hi int) { a.pin("Pin", lo, hi, true) }

// Unpin ends Pin for the blocks of the elements from lo to hi-1. It panics as Pin does.
func (a Array[T]) Unpin(lo, hi int) { a.pin("Unpin", lo, hi, false) }

func (a Array[T]) pin(op string, lo, hi int, keep bool) {
	a.mustHold(op, lo, hi)
	if a.checks.r.memory.paged == nil || lo == hi {
		return
	}
	first, last := a.checks.r.memory.blocksOf(a.offset(lo), a.offset(hi))
	a.checks.r.memory.paged.Pin(first, last, keep)
}
