package pgas

// A Team is an ordered set of PEs: what a collective is called on, and what the PE numbers of a context
// count. A PE keeps one Team value for each team that it is a member of; there is no package state and no
// handle to look up. What the members share stands in a slot of their heaps (slot_unsafe.go).

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Team is an ordered set of PEs, numbered from 0. Teams are made from other teams, by all members of
// those. A PE that is no member of a new team gets nil, on which PE is -1 and NPEs is 0.
//
// The collectives of one team run one after another, in the order in which the PE calls them; every
// member must call the same ones in the same order.
type Team struct {
	w    *World
	g    *coll.Group // its members, and what they do together
	conf TeamConfig
	ctx  *Context
	dead bool // Destroy has returned
}

// MaxTeams is how many teams one PE can be a member of at once.
const MaxTeams = coll.MaxTeams

// TeamConfig is what a team was made with.
type TeamConfig struct {
	// Contexts is how many contexts of the team its users mean to have at once: a hint
	// (OpenSHMEM 1.6, shmem_team_config_t.num_contexts).
	Contexts int
}

// TeamOption says how a team will be used.
type TeamOption func(*TeamConfig)

// WithContexts announces n contexts.
func WithContexts(n int) TeamOption { return func(c *TeamConfig) { c.Contexts = n } }

// openTeams makes the two teams that need no agreement.
func (w *World) openTeams() error {
	w.team = &Team{w: w, g: w.groups.World()}
	var err error
	if w.defaultCtx, err = w.team.newContext(contextOptions{}); err != nil {
		return err
	}
	w.n.Nic = w.defaultCtx.nic
	if err := w.n.OpenChannels(); err != nil {
		return err
	}
	w.team.ctx = w.defaultCtx
	w.shared = &Team{w: w, g: w.groups.Host()}
	w.shared.ctx = w.shared.viewOf(w.defaultCtx)
	return nil
}

// Team is the team of all PEs (OpenSHMEM 1.6, SHMEM_TEAM_WORLD).
func (w *World) Team() *Team {
	w.mustBeOpen("World.Team")
	return w.team
}

// SharedTeam is the team of the PEs of this host, whose memory loads and stores reach
// (OpenSHMEM 1.6, SHMEM_TEAM_SHARED).
func (w *World) SharedTeam() *Team {
	w.mustBeOpen("World.SharedTeam")
	return w.shared
}

// World returns the World that t is a team of.
func (t *Team) World() *World {
	t.mustBeMade("Team.World")
	return t.w
}

// PE is this PE's number in t, or -1 if t is nil (OpenSHMEM 1.6, shmem_team_my_pe).
func (t *Team) PE() int {
	if t == nil {
		return -1
	}
	return t.g.Me
}

// NPEs is the number of members (OpenSHMEM 1.6, shmem_team_n_pes).
func (t *Team) NPEs() int {
	if t == nil {
		return 0
	}
	return len(t.g.PEs)
}

// WorldPE is the number in the job of member pe.
func (t *Team) WorldPE(pe int) int {
	t.member("WorldPE", pe)
	return t.g.PEs[pe]
}

// Translate is the number in team to of member pe of t, or -1 if that is no member of it
// (OpenSHMEM 1.6, shmem_team_translate_pe).
func (t *Team) Translate(pe int, to *Team) int {
	if t == nil || to == nil || t.w == nil || pe < 0 || pe >= len(t.g.PEs) {
		return -1
	}
	if to == t.w.team {
		return t.g.PEs[pe]
	}
	return slices.Index(to.g.PEs, t.g.PEs[pe])
}

// Config is what the team was made with (OpenSHMEM 1.6, shmem_team_get_config).
func (t *Team) Config() TeamConfig {
	t.alive("Config")
	return t.conf
}

// Context is the default context of the World with the PE numbers of t: one ordering domain with it.
func (t *Team) Context() *Context {
	t.alive("Context")
	return t.ctx
}

// Destroy ends t and every context of it; it is collective over t, and completes what was issued on those
// contexts. The teams of every job cannot be destroyed. A nil team may be (OpenSHMEM 1.6,
// shmem_team_destroy).
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
			err = node.FirstError(err, c.Close())
		}
	}
	if err = node.FirstError(err, t.Sync(ctx)); err != nil {
		return fmt.Errorf("destroying team %s%s: %w", t.g.Name, callsite.At(), err)
	}
	t.dead = true
	t.ctx.close()
	t.g.Destroy()
	return nil
}

// alive panics if t may not be used.
func (t *Team) alive(op string) {
	t.mustBeMade(op)
	if t.dead {
		misuse(op, "team %s was destroyed", t.g.Name)
	}
}

// mustBeMade panics if t is nil or zero.
func (t *Team) mustBeMade(op string) {
	if t == nil {
		misuse(op, "this PE is no member of the team (its *Team is nil)")
	}
	if t.w == nil {
		misuse(op, "a zero Team (it was made by no split): use what a split, World.Team or World.SharedTeam returns")
	}
}

func (t *Team) member(op string, pe int) {
	t.alive(op)
	if pe < 0 || pe >= len(t.g.PEs) {
		misuse(op, "PE %d is out of range: this %s has PEs 0 to %d", pe, t.noun(), len(t.g.PEs)-1)
	}
}

// noun is what messages call t's extent.
func (t *Team) noun() string {
	if t.g.Slot == coll.WorldSlot {
		return "job"
	}
	return "team"
}

// localRun is the longest run lo ≤ pe < hi of consecutive members on this host.
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
