package dsmbench

// Releases and barriers.

import (
	"fmt"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// releaseBlocks is the number of blocks of a release.
const releaseBlocks = 64

func releaseRun(m *meter, block int) error    { return releaseOwn(m, block, 1) }
func releaseSpread(m *meter, block int) error { return releaseOwn(m, block, 2) }

// releaseOwn measures the release of blocks that PE 0 wrote last, every one or every second of them. No message is
// sent, which is checked by the counts of the region.
func releaseOwn(m *meter, block, every int) error {
	b, err := m.open(block, releaseBlocks*every, 4*releaseBlocks, dsm.Paged)
	if err != nil {
		return err
	}
	if m.first {
		if err := b.array.Claim(m.ctx, 0, b.array.Len()); err != nil {
			return err
		}
	}
	moves := b.region.Stats().Moves
	t := trial{
		block: block, region: b.region, ops: releaseBlocks, alone: true,
		before: func(round int) error {
			for i := range releaseBlocks {
				b.array.Update(i*every*block, (i*every+1)*block)[round%block] = mark(round)
			}
			return nil
		},
		operate: func(int) error {
			_, err := b.region.Release(m.ctx)
			return err
		},
		beside: func(int) error {
			own, twin := b.into, b.beside.Local()
			for i := range releaseBlocks {
				at := i * every * block
				copy(twin[at:at+block], own[at:at+block])
			}
			return nil
		},
		check: func(int) error {
			if now := b.region.Stats().Moves; now != moves {
				return fmt.Errorf("%d of the blocks that PE 0 wrote last have moved: a release sent messages", now-moves)
			}
			return nil
		},
	}
	if err := m.measure(t); err != nil {
		return err
	}
	return b.close()
}

// releaseMoved measures the release of blocks whose home moves to PE 0.
func releaseMoved(m *meter, block int) error {
	for _, n := range []int{1, 8, 64} {
		b, err := m.open(block, n, 256, dsm.Paged)
		if err != nil {
			return err
		}
		word, err := pgas.Alloc[uint64](m.ctx, m.w, 1)
		if err != nil {
			return err
		}
		t := trial{
			what: fmt.Sprintf("%d blocks", n), block: block, region: b.region, ops: 1, prepare: b.written,
			before: func(round int) error {
				for i := range n {
					b.array.Update(i*block, (i+1)*block)[0] = mark(round + 1)
				}
				return nil
			},
			operate: func(int) error {
				_, err := b.region.Release(m.ctx)
				return err
			},
			beside: func(int) error {
				for range 3 {
					pgas.AtomicOf(word, 0).FetchAdd(m.partner, 1)
				}
				b.beside.All().Get(m.partner, b.into)
				return nil
			},
		}
		if err := m.measure(t); err != nil {
			return err
		}
		if err := word.Free(m.ctx); err != nil {
			return err
		}
		if err := b.close(); err != nil {
			return err
		}
	}
	return nil
}

// barriers is the number of barriers of a round: one alone would be measured with the way to it.
const barriers = 50

// barrier measures barriers of all PEs with nothing written.
func barrier(m *meter) error {
	b, err := m.open(BarrierBlock, 1, 1024, dsm.Paged)
	if err != nil {
		return err
	}
	many := func(meet func() error) func(int) error {
		return func(int) error {
			for range barriers {
				if err := meet(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	own := many(func() error { return b.region.Barrier(m.ctx) })
	worlds := many(func() error { return m.w.Barrier(m.ctx) })
	t := trial{block: b.block, region: b.region, ops: barriers, alone: true, operate: own, beside: worlds}
	t.after = func(round int) error {
		if m.first {
			return nil
		}
		if err := own(round); err != nil {
			return err
		}
		return worlds(round)
	}
	if err := m.measure(t); err != nil {
		return err
	}
	return b.close()
}
