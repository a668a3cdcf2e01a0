package pgas

// Splits: collectives that make new teams of the members of a team.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// SplitStrided makes the team of the size members start, start+stride, … of t. stride may be negative, but not 0
// unless size is 1. It is collective over t, with the same arguments on every member; the PEs that are left out get
// nil. It returns *TooManyTeamsError, after which t can still be used, or an error of a collective (see Team). It
// panics with *UsageError if the arguments do not fit t (OpenSHMEM 1.6, shmem_team_split_strided).
func (t *Team) SplitStrided(ctx context.Context, start, stride, size int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitStrided")
	mustHaveContext("SplitStrided", ctx)
	last := start + (size-1)*stride
	if size < 1 || stride == 0 && size > 1 || start < 0 || start >= len(t.g.PEs) || last < 0 || last >= len(t.g.PEs) {
		misuse("SplitStrided", "start %d, stride %d, size %d do not fit the %d members of the team", start, stride, size, len(t.g.PEs))
	}
	members := make([]int, size)
	for i := range members {
		members[i] = start + i*stride
	}
	return t.splitList(ctx, members, opts)
}

// SplitList makes the team of the given members of t, in that order. It is collective over t, with the same list on
// every member; the PEs that are left out get nil. Its errors are those of SplitStrided. It panics with *UsageError
// if pes is empty, names a PE twice, or names a PE that is out of range. It is an extension of OpenSHMEM.
func (t *Team) SplitList(ctx context.Context, pes []int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitList")
	mustHaveContext("SplitList", ctx)
	seen := make([]bool, len(t.g.PEs))
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
	g, err := t.g.SplitList(ctx, members)
	return t.subTeam(g, opts), err
}

// SplitColor makes a team of the members of t that give the same color, as MPI_Comm_split does. Members are ordered
// by key and, where keys are equal, as in t. A member with a negative color gets nil. It is collective over t. Its
// errors are those of SplitStrided. It is an extension of OpenSHMEM.
func (t *Team) SplitColor(ctx context.Context, color, key int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitColor")
	mustHaveContext("SplitColor", ctx)
	g, err := t.g.SplitColor(ctx, color, key)
	return t.subTeam(g, opts), err
}

// Split2D arranges the members of t in rows of xrange, and makes a team of each row (x) and of each column (y); every
// member is in one of each. The last row is shorter if xrange does not divide the number of members. An xrange beyond
// that number makes one row. It is collective over t. Its errors are those of SplitStrided. It panics with
// *UsageError if xrange is less than 1 (OpenSHMEM 1.6, shmem_team_split_2d).
func (t *Team) Split2D(ctx context.Context, xrange int, opts ...TeamOption) (x, y *Team, err error) {
	t.alive("Split2D")
	mustHaveContext("Split2D", ctx)
	if xrange < 1 {
		misuse("Split2D", "xrange is %d: a row has one PE at least", xrange)
	}
	gx, gy, err := t.g.Split2D(ctx, xrange)
	if err != nil {
		return nil, nil, err
	}
	return t.subTeam(gx, opts), t.subTeam(gy, opts), nil
}

// SplitHost makes a team of the members of t on each host, ordered as in t; this PE gets the team of its own host. It
// is collective over t. Its errors are those of SplitStrided. It is an extension of OpenSHMEM.
func (t *Team) SplitHost(ctx context.Context, opts ...TeamOption) (*Team, error) {
	t.alive("SplitHost")
	mustHaveContext("SplitHost", ctx)
	return t.SplitColor(ctx, t.w.n.Job.HostOf(t.w.n.Job.PE), t.g.Me, opts...)
}

// subTeam returns the team of g, or nil if this PE is no member of it.
func (t *Team) subTeam(g *coll.Group, opts []TeamOption) *Team {
	if g == nil {
		return nil
	}
	s := &Team{w: t.w, g: g}
	for _, opt := range opts {
		opt(&s.conf)
	}
	s.ctx = s.viewOf(t.w.defaultCtx)
	s.w.n.Debugf("is number %d of team %s", g.Me, g.Name)
	return s
}

// TooManyTeamsError reports that a split has found no slot for a new team that is free on all members. All members
// return it, and the team that was to be split can still be used.
type TooManyTeamsError struct{}

// Error returns the message.
func (*TooManyTeamsError) Error() string {
	return fmt.Sprintf("a PE can be in %d teams at once, and no place is free on all members: Destroy teams that are not used any more", coll.MaxTeams)
}
