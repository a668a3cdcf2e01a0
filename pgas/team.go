package pgas

// A Team is an ordered set of PEs. A collective is called on a team, and the PE numbers of a context count a team's
// members. A PE keeps one Team value for each team that it is a member of; there is no package state and no handle to
// look up. What the members share is in a slot of their heaps (slot_unsafe.go of package coll).

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Team is an ordered set of PEs, numbered from 0. A split makes teams from a team, and all members of that team call
// it. A PE that is no member of a new team gets nil, on which PE returns -1 and NPEs returns 0.
//
// The collectives of one team run one after another, in the order in which the PE calls them; every member must call
// the same ones in the same order. The goroutines of a PE take turns: a collective that starts while a blocking one
// is under way on the same team panics with *UsageError. A collective that starts while non-blocking ones are under
// way waits for them.
//
// A collective returns one of these errors, after which the team cannot be used; the members no longer know how far
// the others have got:
//
//   - *MismatchError, if the members call different collectives or give different arguments, or if they wait for each
//     other in a circle of overlapping teams
//   - *AbortedError, if another member gives up the call because its context has ended
//   - the cause of ctx, if ctx ends on this PE before all members have entered the call
//   - *PeerError, if a PE of the job is lost
//   - *NotesError, if this PE has had no room for notifications for too long
//   - ErrClosed, if the World is closed
//
// The methods panic with *UsageError if the team is nil, zero or destroyed, unless they say otherwise.
type Team struct {
	w    *World
	g    *coll.Group // the members, and what they do together
	conf TeamConfig
	ctx  *Context
	dead bool // Destroy has returned
}

// MaxTeams is the number of teams that one PE can be a member of at once, including those of World.Team and
// World.SharedTeam.
const MaxTeams = coll.MaxTeams

// TeamConfig holds the options of a team.
type TeamConfig struct {
	// Contexts is how many contexts of the team its users mean to have at once: a hint
	// (OpenSHMEM 1.6, shmem_team_config_t.num_contexts).
	Contexts int
}

// TeamOption is an option of a split.
type TeamOption func(*TeamConfig)

// WithContexts announces that the program will have n contexts of the team at once. It is a hint.
func WithContexts(n int) TeamOption { return func(c *TeamConfig) { c.Contexts = n } }

// openTeams makes the two teams that need no agreement: that of the job, and that of this host.
func (w *World) openTeams() error {
	w.team = &Team{w: w, g: w.groups.World()}
	var err error
	if w.defaultCtx, err = w.team.newContext(contextOptions{}); err != nil {
		return err
	}
	w.n.NICAtomics = w.defaultCtx.nic
	if err := w.n.OpenChannels(); err != nil {
		return err
	}
	w.team.ctx = w.defaultCtx
	w.shared = &Team{w: w, g: w.groups.Host()}
	w.shared.ctx = w.shared.viewOf(w.defaultCtx)
	return nil
}

// Team returns the team of all PEs (OpenSHMEM 1.6, SHMEM_TEAM_WORLD).
func (w *World) Team() *Team {
	w.mustBeOpen("World.Team")
	return w.team
}

// SharedTeam returns the team of the PEs of this host, whose memory loads and stores of this PE reach (OpenSHMEM 1.6,
// SHMEM_TEAM_SHARED).
func (w *World) SharedTeam() *Team {
	w.mustBeOpen("World.SharedTeam")
	return w.shared
}

// World returns the World that t is a team of.
func (t *Team) World() *World {
	t.mustBeMade("Team.World")
	return t.w
}

// PE returns this PE's number in t, or -1 if t is nil (OpenSHMEM 1.6, shmem_team_my_pe).
func (t *Team) PE() int {
	if t == nil {
		return -1
	}
	return t.g.Me
}

// NPEs returns the number of members, 0 if t is nil (OpenSHMEM 1.6, shmem_team_n_pes).
func (t *Team) NPEs() int {
	if t == nil {
		return 0
	}
	return len(t.g.PEs)
}

// WorldPE returns the number of member pe in the job. It panics with *UsageError if pe is out of range.
func (t *Team) WorldPE(pe int) int {
	t.member("WorldPE", pe)
	return t.g.PEs[pe]
}

// Translate returns the number in team to of member pe of t. It returns -1 if that PE is no member of to, if pe is
// out of range, or if a team is nil (OpenSHMEM 1.6, shmem_team_translate_pe).
func (t *Team) Translate(pe int, to *Team) int {
	if t == nil || to == nil || t.w == nil || pe < 0 || pe >= len(t.g.PEs) {
		return -1
	}
	if to == t.w.team {
		return t.g.PEs[pe]
	}
	return slices.Index(to.g.PEs, t.g.PEs[pe])
}

// Config returns the options that the team was made with (OpenSHMEM 1.6, shmem_team_get_config).
func (t *Team) Config() TeamConfig {
	t.alive("Config")
	return t.conf
}

// Context returns the default context of the World with the PE numbers of t. It is one ordering domain with
// World.Context: a Fence or a Quiet of either concerns the operations of both.
func (t *Team) Context() *Context {
	t.alive("Context")
	return t.ctx
}

// Destroy ends t and every context of it. It is collective over t, and completes the operations issued on those
// contexts. It returns the errors of a Quiet of these contexts (*PeerError, *NotesError) and of a collective (see
// Team). A nil team is valid, and nothing is done. It panics with *UsageError for World.Team and World.SharedTeam,
// which live as long as their World (OpenSHMEM 1.6, shmem_team_destroy).
func (t *Team) Destroy(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.alive("Destroy")
	mustHaveContext("Destroy", ctx)
	if t.g.Slot < coll.FirstFreeSlot {
		misuse("Team.Destroy", "team %s lives as long as its World", t.g.Name)
	}
	var err error
	for _, c := range t.w.contexts.all() {
		if c.team == t {
			err = node.FirstError(err, c.end())
		}
	}
	if err = node.FirstError(err, t.g.Sync(ctx, coll.KindSync, coll.OfDestroy, "destruction")); err != nil {
		return fmt.Errorf("destroying team %s%s: %w", t.g.Name, callsite.At(), err)
	}
	t.dead = true
	t.ctx.close()
	t.g.Destroy()
	return nil
}

// alive panics with *UsageError if t may not be used.
func (t *Team) alive(op string) {
	t.mustBeMade(op)
	if t.dead {
		misuse(op, "team %s was destroyed", t.g.Name)
	}
}

// mustBeMade panics with *UsageError if t is nil or zero.
func (t *Team) mustBeMade(op string) {
	if t == nil {
		misuse(op, "this PE is no member of the team (its *Team is nil)")
	}
	if t.w == nil {
		misuse(op, "a zero Team (it was made by no split): use what a split, World.Team or World.SharedTeam returns")
	}
}

// member panics with *UsageError if t may not be used or has no member pe.
func (t *Team) member(op string, pe int) {
	t.alive(op)
	if pe < 0 || pe >= len(t.g.PEs) {
		misuse(op, "PE %d is out of range: this %s has PEs 0 to %d", pe, t.noun(), len(t.g.PEs)-1)
	}
}

// noun returns the word for t in messages.
func (t *Team) noun() string {
	if t.g.Slot == coll.WorldSlot {
		return "job"
	}
	return "team"
}

// localRun returns the longest run lo ≤ pe < hi of consecutive members on this host.
func (t *Team) localRun() (lo, hi int) {
	for i := 0; i < len(t.g.PEs); i++ {
		j := i
		for j < len(t.g.PEs) && t.w.n.Shm.Heap(t.g.PEs[j]) != nil {
			j++
		}
		if j-i > hi-lo {
			lo, hi = i, j
		}
		i = max(i, j)
	}
	return lo, hi
}
