package pgas

// A Team is an ordered set of PEs: what a collective is called on, and what the PE numbers of a context
// count. A PE keeps one Team value for each team that it is a member of; there is no package state and no
// handle to look up. What the members share stands in a slot of their heaps (slot_unsafe.go).

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Team is an ordered set of PEs, numbered from 0. Teams are made from other teams, by all members of
// those. A PE that is no member of a new team gets nil, on which PE is -1 and NPEs is 0.
//
// The collectives of one team run one after another, in the order in which the PE calls them; every
// member must call the same ones in the same order.
type Team struct {
	w    *World
	slot int
	pes  []int // the members, by their numbers in the team; the values are the job's numbers
	me   int   // this PE's number in the team
	conf TeamConfig
	name string // for reports
	ctx  *Context

	layout        // by where the members really are
	alone  layout // as if each were alone on its host
	board  board  // this PE's own slot

	turns turns
	dead  bool // Destroy has returned
}

// A layout is how the members are spread over hosts.
type layout struct {
	hosts [][]int // the members by host, as numbers in the team; a host's first member leads it
	host  int     // the one of hosts that this PE is in
	here  []int   // hosts[host]
	rank  int     // this PE's place in here; 0 leads
	local []board // the slots of here

	landing landing // of the leaders, for large messages
}

// lead reports whether this PE leads its host.
func (l *layout) lead() bool { return l.rank == 0 }

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

// The slots of the teams that every job has.
const (
	worldSlot = iota
	hostSlot
	firstFreeSlot
)

// openTeams makes the two teams that need no agreement.
func (w *World) openTeams() error {
	all := w.allPEs()
	w.team = w.newTeam(worldSlot, all, 0, "world")
	var err error
	if w.def, err = w.team.newContext(contextOptions{}); err != nil {
		return err
	}
	w.n.nic = w.def.nic
	if err := w.n.openChannels(); err != nil {
		return err
	}
	w.team.ctx = w.def
	h := w.n.job.Host()
	w.host = w.newTeam(hostSlot, all[h.First:h.First+h.PEs], 0, "host "+h.Name)
	w.host.ctx = w.host.viewOf(w.def)
	return nil
}

// newTeam is the team of members pes, whose calls are numbered from base+1.
func (w *World) newTeam(slot int, pes []int, base uint64, name string) *Team {
	t := &Team{w: w, slot: slot, pes: pes, name: name, me: slices.Index(pes, w.n.job.PE)}
	t.board = w.n.boardOf(w.n.job.PE, slot)
	if w.opts.Common != nil {
		t.alone = t.layoutAlone(w.opts.Common)
		t.layout = t.alone
	} else {
		t.layout = t.layoutBy(func(i int) int { return w.n.job.HostOf(pes[i]) })
		t.alone = t.layoutBy(func(i int) int { return i })
	}
	t.turns.n, t.turns.met = base, base
	w.teams.add(t)
	return t
}

// layoutBy spreads the members over hosts as hostOf says.
func (t *Team) layoutBy(hostOf func(i int) int) layout {
	var l layout
	byHost := map[int]int{}
	for i := range t.pes {
		h, seen := byHost[hostOf(i)]
		if !seen {
			h = len(l.hosts)
			byHost[hostOf(i)] = h
			l.hosts = append(l.hosts, nil)
		}
		l.hosts[h] = append(l.hosts[h], i)
	}
	l.host = byHost[hostOf(t.me)]
	l.here = l.hosts[l.host]
	for k, i := range l.here {
		l.local = append(l.local, t.w.n.boardOf(t.pes[i], t.slot))
		if i == t.me {
			l.rank = k
		}
	}
	return l
}

// Team is the team of all PEs (OpenSHMEM 1.6, SHMEM_TEAM_WORLD).
func (w *World) Team() *Team {
	w.made("World.Team")
	return w.team
}

// Shared is the team of the PEs of this host, whose memory loads and stores reach
// (OpenSHMEM 1.6, SHMEM_TEAM_SHARED).
func (w *World) Shared() *Team {
	w.made("World.Shared")
	return w.host
}

// World returns the World that t is a team of.
func (t *Team) World() *World {
	t.made("Team.World")
	return t.w
}

// PE is this PE's number in t, or -1 if t is nil (OpenSHMEM 1.6, shmem_team_my_pe).
func (t *Team) PE() int {
	if t == nil {
		return -1
	}
	return t.me
}

// NPEs is the number of members (OpenSHMEM 1.6, shmem_team_n_pes).
func (t *Team) NPEs() int {
	if t == nil {
		return 0
	}
	return len(t.pes)
}

// WorldPE is the number in the job of member pe.
func (t *Team) WorldPE(pe int) int {
	t.member("WorldPE", pe)
	return t.pes[pe]
}

// Translate is the number in team to of member pe of t, or -1 if that is no member of it
// (OpenSHMEM 1.6, shmem_team_translate_pe).
func (t *Team) Translate(pe int, to *Team) int {
	if t == nil || to == nil || t.w == nil || pe < 0 || pe >= len(t.pes) {
		return -1
	}
	if to == t.w.team {
		return t.pes[pe]
	}
	return slices.Index(to.pes, t.pes[pe])
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
	given("Destroy", ctx)
	if t.slot < firstFreeSlot {
		misuse("Team.Destroy", "team %s lives as long as its World", t.name)
	}
	var err error
	for _, c := range t.w.contexts.all() {
		if c.team == t {
			err = firstError(err, c.Close())
		}
	}
	if err = firstError(err, t.Sync(ctx)); err != nil {
		return fmt.Errorf("destroying team %s%s: %w", t.name, atSite(), err)
	}
	t.dead = true
	t.ctx.close()
	t.release(&t.layout)
	t.release(&t.alone)
	t.w.teams.remove(t)
	return nil
}

// alive panics if t may not be used.
func (t *Team) alive(op string) {
	t.made(op)
	if t.dead {
		misuse(op, "team %s was destroyed", t.name)
	}
}

// made panics if t is nil or zero.
func (t *Team) made(op string) {
	if t == nil {
		misuse(op, "this PE is no member of the team (its *Team is nil)")
	}
	if t.w == nil {
		misuse(op, "a zero Team (it was made by no split): use what a split, World.Team or World.Shared returns")
	}
}

func (t *Team) member(op string, pe int) {
	t.alive(op)
	if pe < 0 || pe >= len(t.pes) {
		misuse(op, "PE %d is out of range: this %s has PEs 0 to %d", pe, t.noun(), len(t.pes)-1)
	}
}

// noun is what messages call t's extent.
func (t *Team) noun() string {
	if t.slot == worldSlot {
		return "job"
	}
	return "team"
}

// nearRun is the longest run lo ≤ pe < hi of consecutive members on this host.
func (t *Team) nearRun() (lo, hi int) {
	for i := 0; i < len(t.pes); i++ {
		j := i
		for j < len(t.pes) && t.w.n.shm.Heap(t.pes[j]) != nil {
			j++
		}
		if j-i > hi-lo {
			lo, hi = i, j
		}
		i = max(i, j)
	}
	return lo, hi
}

// teamSet is this PE's teams, by the slots that they live in.
type teamSet struct {
	mu    sync.Mutex
	teams [MaxTeams]*Team
	high  uint64 // the highest number of a call in any team that has ended
}

func (s *teamSet) add(t *Team) {
	s.mu.Lock()
	s.teams[t.slot] = t
	s.mu.Unlock()
}

func (s *teamSet) remove(t *Team) {
	s.mu.Lock()
	s.teams[t.slot] = nil
	s.high = max(s.high, t.turns.n)
	s.mu.Unlock()
}

// state is which slots are taken, and the highest number of a call in teams that have ended.
func (s *teamSet) state() (taken [MaxTeams / 64]uint64, high uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.teams {
		if t != nil {
			taken[i/64] |= 1 << (i % 64)
		}
	}
	return taken, s.high
}

// wait waits for the non-blocking calls that are under way on any team.
func (s *teamSet) wait(ctx context.Context) error {
	s.mu.Lock()
	teams := s.teams
	s.mu.Unlock()
	var err error
	for _, t := range teams {
		if t == nil {
			continue
		}
		if r := t.turns.last.Load(); r != nil {
			err = firstError(err, r.Wait(ctx))
		}
	}
	return err
}
