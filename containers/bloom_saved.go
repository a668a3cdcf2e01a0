package containers

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes a filter an item of a ckpt.Set. A filter that was made for the same number of keys, of the same
// type, and for the same rate is restored on any number of PEs and members.
func (b *Bloom[K]) Checkpoint() ckpt.Parts {
	if b == nil || b.members.World == nil {
		notMade("Bloom.Checkpoint")
	}
	return ckpt.Parts{Kind: "Bloom", Save: b.save, Restore: b.restore}
}

// layout is where the words are: blocks in a row at each member.
func (b *Bloom[K]) layout() layout {
	return newLayout(bloomBlock*b.all, b.members.N, bloomBlock*b.blocks)
}

// mine returns the words that this member has.
func (b *Bloom[K]) mine(l *layout) []uint64 { return b.local.Local()[:l.len(b.members.Me)] }

// save returns this member's words. Their layout is that of keys, which have other hashes if they are of another type.
func (b *Bloom[K]) save(context.Context) ([]ckpt.Section, error) {
	if b.members.Team == nil {
		return nil, nil
	}
	l := b.layout()
	s := ckpt.Elements(b.mine(&l))
	s.Layout = ckpt.LayoutOf[K]()
	s.Shape = shapeToSave(binary.AppendUvarint(nil, uint64(b.each)), &l, &b.members)
	return []ckpt.Section{s}, nil
}

// restore reads this member's words.
func (b *Bloom[K]) restore(ctx context.Context, from *ckpt.Saved) error {
	if b.members.Team == nil {
		return nil
	}
	old, err := findSaved(ctx, from, b.mustBe)
	if err != nil {
		return err
	}
	l := b.layout()
	if old.n != l.n {
		return errBloomOther
	}
	return readSaved(ctx, from, &old, &l, b.members.Me, b.mine(&l))
}

var errBloomOther = errors.New("it was saved with another number of keys or another rate: make it with the same")

// mustBe returns an error if a section is of another filter, and removes from its Shape what is not of the
// distribution.
func (b *Bloom[K]) mustBe(s *ckpt.Section) error {
	each, used := binary.Uvarint(s.Shape)
	switch {
	case s.Layout != ckpt.LayoutOf[K]() || s.Width != 8:
		return errors.New("it was saved with keys of another type")
	case used <= 0 || each != uint64(b.each):
		return errBloomOther
	}
	s.Shape = s.Shape[used:]
	return nil
}
