package coll

// Making groups. All members of the parent call the same split. Each leaves what it contributes in its
// entry (its color and key, the slots that are free in its heap, the highest number of a call so far),
// all meet and read all members', and each computes the same groups from it. A group gets the first slot that is free
// on all of its own members. If one of the groups finds none, no member gets a group.

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
)

// SplitList makes the group of the given members, which are the same on all PEs. It returns nil to others. contexts is
// what the program has said about the number of contexts, in this as in the other splits.
func (g *Group) SplitList(ctx context.Context, members []int, contexts int) (*Group, error) {
	digest := uint64(len(members))
	for _, m := range members {
		digest = digest*0x100000001b3 ^ uint64(m)
	}
	c := Call{Kind: kindSplit, op: splitList, count: uint64(len(members)), extra: digest, detail: newDetail(listed(members), mix(digest))}
	return g.splitOff(ctx, &c, members, contexts)
}

// SplitStrided makes the group of the members start, start+stride, …, of which there are size. It returns nil to
// others.
func (g *Group) SplitStrided(ctx context.Context, start, stride, size, contexts int) (*Group, error) {
	members := make([]int, size)
	for i := range members {
		members[i] = start + i*stride
	}
	c := Call{Kind: kindSplit, op: splitStrided, root: start, count: uint64(size), bufferHash: uint64(stride)}
	return g.splitOff(ctx, &c, members, contexts)
}

// splitOff makes the group of the given members by call c. It returns nil to others.
func (g *Group) splitOff(ctx context.Context, c *Call, members []int, contexts int) (*Group, error) {
	color := make([]int, len(g.PEs))
	for i := range color {
		color[i] = -1
	}
	for _, m := range members {
		color[m] = 0
	}
	_, p, err := g.propose(ctx, c, proposal{}, contexts, func(i int, _ *proposal) int { return color[i] })
	if err != nil {
		return nil, err
	}
	return g.subGroup(p, members), nil
}

// SplitColor makes a group of the members that give the same color, ordered by key. It returns nil to a member with a
// negative color.
func (g *Group) SplitColor(ctx context.Context, color, key, contexts int) (*Group, error) {
	return g.splitByColor(ctx, splitColor, color, key, contexts)
}

// SplitHost makes a group of the members of each host; host is a number of this one.
func (g *Group) SplitHost(ctx context.Context, host, contexts int) (*Group, error) {
	return g.splitByColor(ctx, splitHost, host, g.Me, contexts)
}

func (g *Group) splitByColor(ctx context.Context, way uint8, color, key, contexts int) (*Group, error) {
	colorOf := func(_ int, p *proposal) int { return p.color }
	all, place, err := g.propose(ctx, &Call{Kind: kindSplit, op: way}, proposal{color: color, key: key}, contexts, colorOf)
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
	return g.subGroup(place, members), nil
}

// Split2D makes a group of each row of xrange members, and of each column.
func (g *Group) Split2D(ctx context.Context, xrange, contexts int) (x, y *Group, err error) {
	xrange = min(xrange, len(g.PEs))
	rowOf := func(i int, _ *proposal) int { return i / xrange }
	columnOf := func(i int, _ *proposal) int { return i % xrange }
	if x, err = g.splitBy(ctx, split2DX, xrange, contexts, rowOf); err != nil {
		return nil, nil, err
	}
	if y, err = g.splitBy(ctx, split2DY, xrange, contexts, columnOf); err != nil {
		x.Destroy()
		return nil, nil, err
	}
	return x, y, nil
}

// splitBy makes a group of the members that have the same color.
func (g *Group) splitBy(ctx context.Context, way uint8, arg, contexts int, colorOf func(i int, p *proposal) int) (*Group, error) {
	_, place, err := g.propose(ctx, &Call{Kind: kindSplit, op: way, count: uint64(arg)}, proposal{}, contexts, colorOf)
	if err != nil {
		return nil, err
	}
	var members []int
	for i := range g.PEs {
		if colorOf(i, nil) == colorOf(g.Me, nil) {
			members = append(members, i)
		}
	}
	return g.subGroup(place, members), nil
}

// subGroup makes the group of the given members, or returns nil if this PE is none of them.
func (g *Group) subGroup(p place, members []int) *Group {
	if !slices.Contains(members, g.Me) {
		return nil
	}
	pes := make([]int, len(members))
	for i, m := range members {
		pes[i] = g.PEs[m]
	}
	return g.set.newGroup(p.slot, pes, p.high, listed(pes))
}

// listed names a group by its PEs.
func listed(pes []int) string {
	if len(pes) <= 8 {
		return fmt.Sprint(pes)
	}
	return fmt.Sprintf("[%d %d %d … %d] of %s", pes[0], pes[1], pes[2], pes[len(pes)-1], plural.Count(len(pes), "PE"))
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

// A place is what a new group gets: the first slot that is free on all its members, and the highest number of a call of
// any of them, from which its calls count on.
type place struct {
	slot  int
	high  uint64
	taken [MaxTeams / 64]uint64 // slots that some of the members use
}

// add adds the proposal of a member.
func (a *place) add(p *proposal) {
	a.high = max(a.high, p.high)
	for i := range a.taken {
		a.taken[i] |= p.taken[i]
	}
}

// choose chooses the slot, and reports whether one is free.
func (a *place) choose() bool {
	for i, w := range a.taken {
		if ^w != 0 {
			a.slot = 64*i + bits.TrailingZeros64(^w)
			return true
		}
	}
	return false
}

// propose is the collective part of a split: it returns all members' proposals, and the place of the new group that
// this PE is in. Members for which colorOf returns the same are in one group, those for which it is negative in none.
// mine is what this PE proposes as its color and key. All members get an error if any of the groups finds no slot.
func (g *Group) propose(ctx context.Context, c *Call, mine proposal, contexts int, colorOf func(i int, p *proposal) int) ([]proposal, place, error) {
	c.Size = max(contexts, 0)
	mine.taken, mine.high = g.set.state()
	mine.high = max(mine.high, g.calls.n)
	said, err := g.allGather(ctx, c, proposalBytes, mine.encode)
	if err != nil {
		return nil, place{}, fmt.Errorf("splitting team %s%s: %w", g.Name, callsite.At(), err)
	}
	all, places := make([]proposal, len(said)), map[int]*place{}
	for i, b := range said {
		all[i] = decodeProposal(b)
		color := colorOf(i, &all[i])
		if places[color] == nil {
			places[color] = &place{}
		}
		places[color].add(&all[i])
	}
	for i := range all { // in order, so that all members name the same group
		color := colorOf(i, &all[i])
		if color >= 0 && !places[color].choose() {
			return nil, place{}, fmt.Errorf("splitting team %s: %w", g.Name, g.tooMany(all, color, colorOf))
		}
	}
	return all, *places[colorOf(g.Me, &all[g.Me])], nil
}

// tooMany returns the error for the new group of that color, for which no slot is free.
func (g *Group) tooMany(all []proposal, color int, colorOf func(i int, p *proposal) int) error {
	var members []int
	fullest, most := 0, 0
	for i := range all {
		if colorOf(i, &all[i]) != color {
			continue
		}
		members = append(members, g.PEs[i])
		n := 0
		for _, w := range all[i].taken {
			n += bits.OnesCount64(w)
		}
		if n > most {
			fullest, most = g.PEs[i], n
		}
	}
	return g.set.errors.TooManyTeams(listed(members), fullest, most)
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
