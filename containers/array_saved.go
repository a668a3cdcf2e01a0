package containers

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/plural"
)

// Checkpoint makes an array an item of a ckpt.Set. An array of as many elements is restored on any number of PEs and
// members, and in any distribution.
func (a *Array[T]) Checkpoint() ckpt.Parts {
	return ckpt.Parts{Kind: "Array", Save: a.save, Restore: a.restore}
}

// save returns this member's part.
func (a *Array[T]) save(context.Context) ([]ckpt.Section, error) {
	if a.members.Team == nil {
		return nil, nil
	}
	a.mustBeOpen("Checkpoint")
	s := ckpt.Elements(a.Local())
	s.Shape = shapeToSave(nil, &a.layout, a.members)
	return []ckpt.Section{s}, nil
}

// restore reads this member's elements from where they were.
func (a *Array[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	if a.members.Team == nil {
		return nil
	}
	a.mustBeOpen("Checkpoint")
	old, err := findSaved(ctx, from, ckpt.MustBe[T])
	if err != nil {
		return err
	}
	if old.n != a.layout.n {
		return fmt.Errorf("it has %s, and was saved with %d", plural.Count(a.layout.n, "element"), old.n)
	}
	return readSaved(ctx, from, &old, &a.layout, a.members.Me, a.Local())
}
