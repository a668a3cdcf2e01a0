package coll

// Groups: the members of a team, and what the runtime keeps of them. Package pgas makes teams and contexts of groups.

import (
	"context"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// A Group is an ordered set of PEs that call collectives together. Each of its members has a value of its own.
type Group struct {
	n    *node.Node
	set  *Set
	Slot int
	PEs  []int  // the members, by their numbers in the group; the values are the job's numbers
	Me   int    // this PE's number in the group
	Name string // name in reports

	layout          // by the hosts of the members
	flat   layout   // the layout as if each member were alone on its host
	view   slotView // this PE's own slot

	calls callState
}

// A layout is how the members are spread over hosts.
type layout struct {
	hosts        [][]int    // the members by host, as numbers in the group; a host's first member leads it
	hostIndex    int        // index in hosts of this PE's host
	localMembers []int      // hosts[host]
	localRank    int        // this PE's index in localMembers; 0 leads
	local        []slotView // the slots of localMembers

	staging staging // staging areas of the leaders, for large messages
}

// isLeader reports whether this PE leads its host.
func (l *layout) isLeader() bool { return l.localRank == 0 }

// layoutBy spreads the members over hosts as hostOf says.
func (g *Group) layoutBy(hostOf func(i int) int) layout {
	var l layout
	byHost := map[int]int{}
	for i := range g.PEs {
		h, seen := byHost[hostOf(i)]
		if !seen {
			h = len(l.hosts)
			byHost[hostOf(i)] = h
			l.hosts = append(l.hosts, nil)
		}
		l.hosts[h] = append(l.hosts[h], i)
	}
	l.hostIndex = byHost[hostOf(g.Me)]
	l.localMembers = l.hosts[l.hostIndex]
	for k, i := range l.localMembers {
		l.local = append(l.local, viewOf(g.n, g.PEs[i], g.Slot))
		if i == g.Me {
			l.localRank = k
		}
	}
	return l
}

// layoutAlone returns the layout of members that are each alone on their hosts.
func (g *Group) layoutAlone(c *Common) layout {
	return layout{hosts: c.alone[:len(g.PEs)], hostIndex: g.Me, localMembers: c.alone[g.Me], local: []slotView{g.view}}
}

// The slots of the groups that every job has.
const (
	WorldSlot = iota
	hostSlot
	FirstFreeSlot
)

// errorMakers makes the errors that a program sees. Their types belong to the API above.
type ErrorMakers struct {
	Misuse   func(op, msg string) // panics with the error of a misuse
	Mismatch func(call string, calls []string) error
	Aborted  func(pe int, call string, err error) error

	// TooManyTeams is for the new team of these PEs, of which pe is in the most: so many.
	TooManyTeams func(team string, pe, teams int) error
}

// A Set holds the groups of one PE, by their slots.
type Set struct {
	n       *node.Node
	common  *Common
	errors  ErrorMakers
	staging stagingPool

	mu     sync.Mutex
	groups [MaxTeams]*Group
	high   uint64 // the highest number of a call in any group that has ended
}

// NewSet returns the groups of n: none yet. common may be nil.
func NewSet(n *node.Node, common *Common, errors ErrorMakers) *Set {
	return &Set{n: n, common: common, errors: errors}
}

// World makes the group of all PEs of the job.
func (s *Set) World() *Group { return s.newGroup(WorldSlot, s.allPEs(), 0, "world") }

// Host makes the group of the PEs of this host.
func (s *Set) Host() *Group {
	h := s.n.Job.Host()
	return s.newGroup(hostSlot, s.allPEs()[h.First:h.First+h.PEs], 0, "host "+h.Name)
}

// allPEs returns the PEs of the job.
func (s *Set) allPEs() []int {
	if s.common != nil {
		return s.common.all
	}
	return upTo(s.n.Job.NPEs)
}

// newGroup makes the group of members pes, whose calls are numbered from base+1.
func (s *Set) newGroup(slot int, pes []int, base uint64, name string) *Group {
	g := &Group{n: s.n, set: s, Slot: slot, PEs: pes, Name: name, Me: slices.Index(pes, s.n.Job.PE)}
	g.view = viewOf(s.n, s.n.Job.PE, slot)
	if s.common != nil {
		g.flat = g.layoutAlone(s.common)
		g.layout = g.flat
	} else {
		g.layout = g.layoutBy(func(i int) int { return s.n.Job.HostOf(pes[i]) })
		g.flat = g.layoutBy(func(i int) int { return i })
	}
	g.calls.base, g.calls.n, g.calls.syncedCall = base, base, base
	s.mu.Lock()
	taken := s.groups[slot] != nil
	if !taken {
		s.groups[slot] = g
	}
	s.mu.Unlock()
	if taken { // by a split of another team, between this one's proposal and now
		s.errors.Misuse("split", "two goroutines of this PE split teams at the same time: one must wait for the other's split")
	}
	return g
}

// state returns which slots are taken, and the highest number of a call in groups that have ended.
func (s *Set) state() (taken [MaxTeams / 64]uint64, high uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.groups {
		if g != nil {
			taken[i/64] |= 1 << (i % 64)
		}
	}
	return taken, s.high
}

// Wait blocks until the non-blocking calls that are under way on any group are complete. It returns the first error
// of a call, or the cause of ctx.
func (s *Set) Wait(ctx context.Context) error {
	s.mu.Lock()
	groups := s.groups
	s.mu.Unlock()
	var err error
	for _, g := range groups {
		if g == nil {
			continue
		}
		if r := g.calls.last.Load(); r != nil {
			err = node.FirstError(err, r.Wait(ctx))
		}
	}
	return err
}
