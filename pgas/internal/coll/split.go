package coll

// Making groups. All members of the parent call the same split. Each leaves what it contributes in its
// entry (its color and key, the slots that are free in its heap, the highest number of a call so far),
// all meet and read all members', and each computes the same groups from it. The groups of one split never
// share a PE, so they share a slot: the first that is free on every member of the parent.

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
)

// SplitList makes the group of the given members, which are the same on all PEs. It returns nil to others.
func (g *Group) SplitList(ctx context.Context, members []int) (*Group, error) {
	digest := uint64(len(members))
	for _, m := range members {
		digest = digest*0x100000001b3 ^ uint64(m)
	}
	_, slot, base, err := g.propose(ctx, Call{Kind: kindSplit, op: splitPlain, count: digest}, 0, 0)
	if err != nil {
		return nil, err
	}
	return g.subGroup(slot, members, base), nil
}

// SplitColor makes a group of the members that give the same color, ordered by key. It returns nil to a member with a
// negative color.
func (g *Group) SplitColor(ctx context.Context, color, key int) (*Group, error) {
	all, slot, base, err := g.propose(ctx, Call{Kind: kindSplit, op: splitColor}, color, key)
	if err != nil || color < 0 {
		return nil, err
	}
	var members []int
	for i, p := range all {
		if p.color == color {
			members = append(members, i)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[a].key, all[b].key) })
	return g.subGroup(slot, members, base), nil
}

// Split2D makes a group of each row of xrange members, and of each column.
func (g *Group) Split2D(ctx context.Context, xrange int) (x, y *Group, err error) {
	xrange = min(xrange, len(g.PEs))
	row, column := g.Me/xrange, g.Me%xrange
	rowOf := func(i int) bool { return i/xrange == row }
	columnOf := func(i int) bool { return i%xrange == column }
	if x, err = g.splitBy(ctx, split2DX, xrange, rowOf); err != nil {
		return nil, nil, err
	}
	if y, err = g.splitBy(ctx, split2DY, xrange, columnOf); err != nil {
		x.Destroy()
		return nil, nil, err
	}
	return x, y, nil
}

// splitBy makes the group of the members for which in holds: with this PE's in, they are one of several
// disjoint groups.
func (g *Group) splitBy(ctx context.Context, way uint8, arg int, in func(i int) bool) (*Group, error) {
	_, slot, base, err := g.propose(ctx, Call{Kind: kindSplit, op: way, count: uint64(arg)}, 0, 0)
	if err != nil {
		return nil, err
	}
	var members []int
	for i := range g.PEs {
		if in(i) {
			members = append(members, i)
		}
	}
	return g.subGroup(slot, members, base), nil
}

// subGroup makes the group of the given members, or returns nil if this PE is none of them.
func (g *Group) subGroup(slot int, members []int, base uint64) *Group {
	if !slices.Contains(members, g.Me) {
		return nil
	}
	pes := make([]int, len(members))
	for i, m := range members {
		pes[i] = g.PEs[m]
	}
	return g.set.newGroup(slot, pes, base, listed(pes))
}

// listed names a group by its PEs.
func listed(pes []int) string {
	if len(pes) <= 8 {
		return fmt.Sprint(pes)
	}
	return fmt.Sprintf("[%d %d %d … %d] of %d PEs", pes[0], pes[1], pes[2], pes[len(pes)-1], len(pes))
}

// A proposal is what a member brings to a split.
type proposal struct {
	taken      [MaxTeams / 64]uint64
	high       uint64
	color, key int
}

const proposalBytes = 8 * (MaxTeams/64 + 3)

func (p proposal) encode(b []byte) {
	for i, v := range [...]uint64{p.taken[0], p.taken[1], p.high, uint64(p.color), uint64(p.key)} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
}

func decodeProposal(b []byte) proposal {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return proposal{[...]uint64{word(0), word(1)}, word(2), int(word(3)), int(word(4))}
}

// propose is the collective part of a split: all members' proposals, the slot of the new teams, and the
// number that their calls count from.
func (g *Group) propose(ctx context.Context, c Call, color, key int) (all []proposal, slot int, base uint64, err error) {
	taken, high := g.set.state()
	mine := proposal{taken: taken, high: max(high, g.calls.n), color: color, key: key}
	said, err := g.allGather(ctx, c, proposalBytes, mine.encode)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("splitting team %s%s: %w", g.Name, callsite.At(), err)
	}
	var busy [MaxTeams / 64]uint64
	for _, b := range said {
		p := decodeProposal(b)
		all = append(all, p)
		base = max(base, p.high)
		for i := range busy {
			busy[i] |= p.taken[i]
		}
	}
	for i, w := range busy {
		if ^w != 0 {
			return all, 64*i + bits.TrailingZeros64(^w), base, nil
		}
	}
	return nil, 0, 0, fmt.Errorf("splitting team %s: %w", g.Name, g.set.errors.TooManyTeams())
}

// Destroy ends a group that all members have left.
func (g *Group) Destroy() {
	g.releaseStaging(&g.layout)
	g.releaseStaging(&g.flat)
	s := g.set
	s.mu.Lock()
	s.groups[g.Slot] = nil
	s.high = max(s.high, g.calls.n)
	s.mu.Unlock()
}
