package pgas

// Splits: collectives that make new teams of the members of a team.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/plural"
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
		misuse("SplitStrided", "start %d, stride %d, size %d do not fit the %s of the team", start, stride, size, plural.Count(len(t.g.PEs), "member"))
	}
	conf := teamConfig(opts)
	g, err := t.g.SplitStrided(ctx, start, stride, size, conf.Contexts)
	return t.subTeam(g, conf), err
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
	conf := teamConfig(opts)
	g, err := t.g.SplitList(ctx, slices.Clone(pes), conf.Contexts)
	return t.subTeam(g, conf), err
}

// SplitColor makes a team of the members of t that give the same color, as MPI_Comm_split does. Members are ordered
// by key and, where keys are equal, as in t. A member with a negative color gets nil. It is collective over t. Its
// errors are those of SplitStrided. It is an extension of OpenSHMEM.
func (t *Team) SplitColor(ctx context.Context, color, key int, opts ...TeamOption) (*Team, error) {
	t.alive("SplitColor")
	mustHaveContext("SplitColor", ctx)
	conf := teamConfig(opts)
	g, err := t.g.SplitColor(ctx, color, key, conf.Contexts)
	return t.subTeam(g, conf), err
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
	conf := teamConfig(opts)
	gx, gy, err := t.g.Split2D(ctx, xrange, conf.Contexts)
	if err != nil {
		return nil, nil, err
	}
	return t.subTeam(gx, conf), t.subTeam(gy, conf), nil
}

// SplitHost makes a team of the members of t on each host, ordered as in t; this PE gets the team of its own host. It
// is collective over t. Its errors are those of SplitStrided. It is an extension of OpenSHMEM.
func (t *Team) SplitHost(ctx context.Context, opts ...TeamOption) (*Team, error) {
	t.alive("SplitHost")
	mustHaveContext("SplitHost", ctx)
	conf := teamConfig(opts)
	g, err := t.g.SplitHost(ctx, t.w.n.Job.HostOf(t.w.n.Job.PE), conf.Contexts)
	return t.subTeam(g, conf), err
}

// teamConfig returns what opts set.
func teamConfig(opts []TeamOption) (c TeamConfig) {
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// subTeam returns the team of g, or nil if this PE is no member of it.
func (t *Team) subTeam(g *coll.Group, conf TeamConfig) *Team {
	if g == nil {
		return nil
	}
	s := &Team{w: t.w, g: g, conf: conf}
	s.ctx = s.viewOf(t.w.defaultCtx)
	s.w.n.Debugf("is number %d of team %s", g.Me, g.Name)
	return s
}

// TooManyTeamsError reports that a split has found no slot for a new team that is free on all members of that team. All
// members of the team that was to be split return it, and that team can still be used.
type TooManyTeamsError struct {
	Team      string // the PEs of the new team
	PE, Teams int    // the PE that is in the most teams, and the number of its teams
}

// Error returns the message.
func (e *TooManyTeamsError) Error() string {
	const remedy = "Destroy teams that are not used any more"
	if e.Teams >= MaxTeams {
		return fmt.Sprintf("no team of PEs %s: PE %d is in %d teams, and a PE can be in no more at once: %s", e.Team, e.PE, e.Teams, remedy)
	}
	return fmt.Sprintf("no team of PEs %s: each of the %s for teams is taken on one of them (PE %d is in %d teams): %s",
		e.Team, plural.Count(MaxTeams, "place"), e.PE, e.Teams, remedy)
}
