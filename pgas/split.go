package pgas

// Making teams. All members of the parent call the same split. Each leaves what it contributes in its
// entry (its color and key, the slots that are free in its heap, the highest number of a call so far),
// all meet and read everybody's, and each computes the same teams from it. The teams of one split never
// share a PE, so they share a slot: the first that is free on every member of the parent.

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// The ways of a split, as they stand in entries.
const (
	splitPlain = iota
	split2DX
	split2DY
	splitColor
)

var splitNames = [...]string{"plain", "2D x", "2D y", "color"}

// SplitStrided makes the team of members start, start+stride, … (size of them) of t. stride may be
// negative, but not 0 unless size is 1. It is collective over t, with the same arguments on every member;
// those left out get nil (OpenSHMEM 1.6, shmem_team_split_strided).
func (t *Team) SplitStrided(ctx context.Context, start, stride, size int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitStrided")
	given("SplitStrided", ctx)
	last := start + (size-1)*stride
	if size < 1 || stride == 0 && size > 1 || start < 0 || start >= len(t.pes) || last < 0 || last >= len(t.pes) {
		misuse("SplitStrided", "start %d, stride %d, size %d do not fit the %d members of the team", start, stride, size, len(t.pes))
	}
	members := make([]int, size)
	for i := range members {
		members[i] = start + i*stride
	}
	return t.splitList(ctx, members, opts)
}

// SplitList makes the team of the given members of t, in that order. It is collective over t, with the
// same list on every member; those left out get nil.
func (t *Team) SplitList(ctx context.Context, pes []int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitList")
	given("SplitList", ctx)
	seen := make([]bool, len(t.pes))
	for _, pe := range pes {
		t.member("SplitList", pe)
		if seen[pe] {
			misuse("SplitList", "PE %d is named twice", pe)
		}
		seen[pe] = true
	}
	if len(pes) == 0 {
		misuse("SplitList", "a team needs a member: name one PE at least")
	}
	return t.splitList(ctx, slices.Clone(pes), opts)
}

// splitList makes the team of members, which are the same on all PEs.
func (t *Team) splitList(ctx context.Context, members []int, opts []TeamOption) (*Team, error) {
	digest := uint64(len(members))
	for _, m := range members {
		digest = digest*0x100000001b3 ^ uint64(m)
	}
	_, slot, base, err := t.propose(ctx, call{kind: kindSplit, op: splitPlain, count: digest}, 0, 0)
	if err != nil {
		return nil, err
	}
	return t.subTeam(slot, members, base, opts), nil
}

// SplitColor makes a team of the members of t that give the same color, ordered by key and, where keys
// are equal, as in t. A member with a negative color gets nil. It is collective over t.
func (t *Team) SplitColor(ctx context.Context, color, key int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitColor")
	given("SplitColor", ctx)
	all, slot, base, err := t.propose(ctx, call{kind: kindSplit, op: splitColor}, color, key)
	if err != nil {
		return nil, err
	}
	if color < 0 {
		return nil, nil
	}
	var members []int
	for i, p := range all {
		if p.color == color {
			members = append(members, i)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[a].key, all[b].key) })
	return t.subTeam(slot, members, base, opts), nil
}

// Split2D lays the members of t out in rows of xrange and makes a team of each row (x) and of each column
// (y); every member is in one of each. The last row is shorter if xrange does not divide the number of
// members, and an xrange beyond that number is one row. It is collective over t
// (OpenSHMEM 1.6, shmem_team_split_2d).
func (t *Team) Split2D(ctx context.Context, xrange int, opts ...TeamOption) (x, y *Team, err error) {
	t.alive("Split2D")
	given("Split2D", ctx)
	if xrange < 1 {
		misuse("Split2D", "xrange is %d: a row has one PE at least", xrange)
	}
	xrange = min(xrange, len(t.pes))
	row, column := t.me/xrange, t.me%xrange
	rowOf := func(i int) bool { return i/xrange == row }
	columnOf := func(i int) bool { return i%xrange == column }
	if x, err = t.splitBy(ctx, split2DX, xrange, rowOf, opts); err != nil {
		return nil, nil, err
	}
	if y, err = t.splitBy(ctx, split2DY, xrange, columnOf, opts); err != nil {
		return nil, nil, errors.Join(err, x.Destroy(ctx))
	}
	return x, y, nil
}

// splitBy makes the team of the members for which in holds: with this PE's in, they are one of several
// disjoint teams.
func (t *Team) splitBy(ctx context.Context, way uint8, arg int, in func(i int) bool, opts []TeamOption) (*Team, error) {
	_, slot, base, err := t.propose(ctx, call{kind: kindSplit, op: way, count: uint64(arg)}, 0, 0)
	if err != nil {
		return nil, err
	}
	var members []int
	for i := range t.pes {
		if in(i) {
			members = append(members, i)
		}
	}
	return t.subTeam(slot, members, base, opts), nil
}

// Host makes a team of the members of t on each host; this PE gets its own. It is collective over t.
func (t *Team) Host(ctx context.Context, opts ...TeamOption) (*Team, error) {
	t.alive("Host")
	given("Host", ctx)
	return t.SplitColor(ctx, t.w.n.job.HostOf(t.w.n.job.PE), t.me, opts...)
}

// subTeam is the team of the given members of t, or nil if this PE is none of them.
func (t *Team) subTeam(slot int, members []int, base uint64, opts []TeamOption) *Team {
	if !slices.Contains(members, t.me) {
		return nil
	}
	pes := make([]int, len(members))
	for i, m := range members {
		pes[i] = t.pes[m]
	}
	s := t.w.newTeam(slot, pes, base, listed(pes))
	for _, opt := range opts {
		opt(&s.conf)
	}
	s.ctx = s.viewOf(t.w.def)
	s.w.n.debugf("is number %d of team %s", s.me, s.name)
	return s
}

// listed names a team by its PEs.
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

// propose is the collective part of a split: everybody's proposals, the slot of the new teams, and the
// number that their calls count from.
func (t *Team) propose(ctx context.Context, c call, color, key int) (all []proposal, slot int, base uint64, err error) {
	taken, high := t.w.teams.state()
	mine := proposal{taken: taken, high: max(high, t.turns.n), color: color, key: key}
	said, err := t.exchange(ctx, c, proposalBytes, mine.encode)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("splitting team %s%s: %w", t.name, atSite(), err)
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
	return nil, 0, 0, fmt.Errorf("splitting team %s: %w", t.name, &TooManyTeamsError{})
}

// TooManyTeamsError reports that a split found no room for a new team on all members.
type TooManyTeamsError struct{}

func (*TooManyTeamsError) Error() string {
	return fmt.Sprintf("a PE can be in %d teams at once, and no place is free on all members: Destroy teams that are not used any more", MaxTeams)
}

// exchange is a call in which every member contributes n bytes, at most inlineBytes, and gets everybody's.
func (t *Team) exchange(ctx context.Context, c call, n int, fill func([]byte)) ([][]byte, error) {
	e, err := t.enter(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	defer t.leave()
	fill(e.data[:n])
	if err := t.meetIn(ctx, e); err != nil {
		return nil, err
	}
	return t.entries(ctx, n)
}

// entries fetches the first n bytes of what every member has left in its entry for the call under way.
func (t *Team) entries(ctx context.Context, n int) ([][]byte, error) {
	all := make([][]byte, len(t.pes))
	off := uint64(slotOff(t.slot) + entryOff(t.turns.n) + dataOff)
	for i, pe := range t.pes {
		all[i] = make([]byte, n)
		t.w.n.channel(pe).GetNB(pe, all[i], off)
	}
	if err := t.flush(); err != nil {
		return nil, err
	}
	return all, nil
}
