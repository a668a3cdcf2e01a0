package pgas

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// quietNIC executes nothing and, as a NIC, rings nobody.
type quietNIC struct{ transport.Channel }

func (quietNIC) Atomic(context.Context, int, transport.Op, transport.Word, uint64, uint64) (uint64, error) {
	return 0, nil
}
func (quietNIC) AtomicNB(int, transport.Op, transport.Word, uint64, uint64, []byte) {}
func (quietNIC) Post(int, transport.Op, transport.Word, uint64)                     {}
func (quietNIC) PutSignal(int, uint64, []byte, uint64, transport.Op, uint64)        {}
func (quietNIC) Quiet(context.Context, int) error                                   { return nil }

// TestNICAtomicsRing: a PE that sleeps is rung for what a NIC has done to its words at once if the initiator
// has waited for that, otherwise at the quiet that completes it, and once.
func TestNICAtomicsRing(t *testing.T) {
	const pe, first, off = 5, 4, 4096
	ctx, at := t.Context(), node.Word8(off)
	for _, c := range []struct {
		name    string
		act     func(s *splitChannel)
		atOnce  bool
		atQuiet bool
	}{
		{"fetching", func(s *splitChannel) { s.Atomic(ctx, pe, transport.Add, at, 1, 0) }, true, false},
		{"fetch", func(s *splitChannel) { s.Atomic(ctx, pe, transport.Fetch, at, 0, 0) }, false, false},
		{"posted", func(s *splitChannel) { s.Post(pe, transport.Add, at, 1) }, false, true},
		{"fetching, not waited for", func(s *splitChannel) { s.AtomicNB(pe, transport.Add, at, 1, 0, nil) }, false, true},
		{"fetch, not waited for", func(s *splitChannel) { s.AtomicNB(pe, transport.Fetch, at, 0, 0, nil) }, false, false},
		{"signal", func(s *splitChannel) { s.PutSignal(pe, 0, nil, off, transport.Set, 1) }, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seg := boot.NewSegment(2, 2, 1<<20)
			seg.Header.First = first
			s := &splitChannel{Channel: shm.Open(seg).Open(), atomics: quietNIC{}, owedBells: newOwedDoorbells(seg)}
			door := func() uint32 { return seg.States[pe-first].Doorbell.Load() }
			seg.States[pe-first].Waiting.Store(boot.WatchWord(off))
			c.act(s)
			if rung := door() == 1; rung != c.atOnce {
				t.Errorf("rung at once: %t", rung)
			}
			before := door()
			for _, to := range []int{first, first + 7, -1, pe} { // a quiet of another PE is none of this one
				s.Quiet(ctx, to)
				if want := c.atQuiet && to != first && to != first+7; (door() > before) != want {
					t.Errorf("after a quiet of PE %d the doorbell is %d", to, door())
				}
			}
			if door() > before+1 {
				t.Errorf("rung %d times", door()-before)
			}
			if seg.States[0].Doorbell.Load() != 0 {
				t.Error("the other PE is rung")
			}
		})
	}
}
