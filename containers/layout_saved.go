package containers

// Elements that are distributed by a layout, as they are saved and found again in another one.

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/carry"
)

// shapeToSave appends to b the layout of the elements of which a member has some. findSaved reads it.
func shapeToSave(b []byte, l *layout, m *carry.Members) []byte {
	all := 0
	if m.Team == m.World.Team() {
		all = 1
	}
	for _, v := range [...]int{l.n, l.p, l.block, m.Me, all} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

// savedLayout is where elements were when they were saved.
type savedLayout struct {
	layout
	pes []int // the PE of each member
}

// findSaved finds out where the elements of an item were. mustBe returns an error if a section is of another type.
func findSaved(ctx context.Context, from *ckpt.Saved, mustBe func(*ckpt.Section) error) (old savedLayout, err error) {
	missing := 1
	for pe := 0; pe < from.PEs() && missing > 0; pe++ {
		all, err := from.Sections(ctx, pe)
		if err != nil {
			return old, err
		}
		if len(all) == 0 {
			continue // no member
		}
		s := &all[0]
		if err := mustBe(s); err != nil {
			return old, err
		}
		l, member, whole, ok := shapeOf(s.Shape, from.PEs())
		if ok && old.pes == nil {
			old = savedLayout{l, slices.Repeat([]int{-1}, l.p)}
			missing = l.p
		}
		if !ok || member >= len(old.pes) || old.pes[member] >= 0 || old.n != l.n || old.block != l.block || s.Count != old.len(member) {
			return old, fmt.Errorf("what PE %d has saved of it does not fit", pe)
		}
		old.pes[member] = pe
		missing--
		if whole { // the others need not be looked at
			for pe := range old.pes {
				old.pes[pe] = pe
			}
			return old, nil
		}
	}
	if missing > 0 {
		return old, fmt.Errorf("what %d of its members had is missing", missing)
	}
	return old, nil
}

// shapeOf returns the layout that a Shape holds, over so many PEs at most, the member that has saved it, and whether
// the members are all PEs in their order.
func shapeOf(b []byte, pes int) (l layout, member int, whole, ok bool) {
	var v [5]int
	for i := range v {
		x, used := binary.Uvarint(b)
		if used <= 0 || x > 1<<48 {
			return l, 0, false, false
		}
		v[i], b = int(x), b[used:]
	}
	n, p, block := v[0], v[1], v[2]
	if p < 1 || p > pes || block > 1<<38 || len(b) > 0 {
		return l, 0, false, false
	}
	return newLayout(n, p, block), v[3], v[4] == 1 && p == pes, true
}

// readSaved reads the elements that a member has in a layout from where they were.
func readSaved[T any](ctx context.Context, from *ckpt.Saved, old *savedLayout, l *layout, me int, mine []T) error {
	for at := 0; at < len(mine); {
		i := l.index(me, at)
		pe, place := old.locate(i)
		n := min(l.run(i), old.run(i))
		if err := ckpt.Read(ctx, from, old.pes[pe], 0, place, mine[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}
