package coherent

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Checkpoint makes an array an item of a ckpt.Set. An array of as many elements is restored on any number of PEs. Save
// contains a Region.Barrier, so that what PEs have written is saved, and Restore two.
func (a *Array[T]) Checkpoint() ckpt.Parts {
	a.mustBe("Checkpoint")
	return ckpt.Parts{Kind: "coherent.Array", Save: a.save, Restore: a.restore}
}

// save returns a copy of this PE's share, after all PEs have published what they have written. A copy, since the next
// fence ends the share that View returns.
func (a *Array[T]) save(ctx context.Context) ([]ckpt.Section, error) {
	if err := a.region.Barrier(ctx); err != nil {
		return nil, err
	}
	lo, hi := a.Share()
	mine := make([]T, hi-lo)
	a.GetRange(lo, mine)
	s := ckpt.Elements(mine)
	s.Shape = binary.AppendUvarint(nil, uint64(a.Len()))
	return []ckpt.Section{s}, nil
}

// restore sets this PE's share, between two barriers: what PEs have written before does not come after it.
func (a *Array[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	mine, err := a.savedShare(ctx, from)
	failed := 0
	if err != nil {
		failed = 1
	}
	failed, err2 := pgas.MaxValue(ctx, a.team, failed)
	if err := cmp.Or(err, err2); err != nil || failed > 0 {
		return err
	}
	if err := a.region.Barrier(ctx); err != nil {
		return err
	}
	lo, _ := a.Share()
	a.PutRange(lo, mine)
	return a.region.Barrier(ctx)
}

// savedShare reads the elements of this PE's share from the PEs that have saved them.
func (a *Array[T]) savedShare(ctx context.Context, from *ckpt.Saved) (mine []T, err error) {
	lo, hi := a.Share()
	mine = make([]T, hi-lo)
	for pe := range from.PEs() {
		begin, end := beginOf(pe, a.Len(), from.PEs()), beginOf(pe+1, a.Len(), from.PEs())
		first, last := max(lo, begin), min(hi, end)
		if first >= last && pe != a.team.PE()%from.PEs() { // of one PE each looks in any case
			continue
		}
		if err := a.mustFit(ctx, from, pe, end-begin); err != nil {
			return nil, err
		}
		if first >= last {
			continue
		}
		if err := ckpt.Read(ctx, from, pe, 0, first-begin, mine[first-lo:last-lo]); err != nil {
			return nil, err
		}
	}
	return mine, nil
}

// beginOf returns where the share of PE pe of so many begins, as pgas.Team.Share divides n elements.
func beginOf(pe, n, pes int) int {
	high, low := bits.Mul64(uint64(pe), uint64(n))
	begin, _ := bits.Div64(high, low, uint64(pes))
	return int(begin)
}

// mustFit returns an error unless PE pe has saved its share of an array of the same type and length.
func (a *Array[T]) mustFit(ctx context.Context, from *ckpt.Saved, pe, share int) error {
	all, err := from.Sections(ctx, pe)
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("PE %d has saved %s of it, and not 1", pe, plural.Count(len(all), "part"))
	}
	s := &all[0]
	if err := ckpt.MustBe[T](s); err != nil {
		return err
	}
	n, read := binary.Uvarint(s.Shape)
	switch {
	case read > 0 && n != uint64(a.Len()):
		return fmt.Errorf("it has %s, and was saved with %d", plural.Count(a.Len(), "element"), n)
	case read <= 0 || s.Count != share:
		return fmt.Errorf("what PE %d has saved of it does not fit", pe)
	}
	return nil
}
