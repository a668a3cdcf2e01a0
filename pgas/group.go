package pgas

// A Group is the members of a team, and what they do together. Package pgas makes teams and contexts of it.

import (
	"context"
	"slices"
	"sync"
)

// A Group is an ordered set of PEs that call collectives together. Each of its members has a value of its own.
type Group struct {
	n    *Node
	set  *groupSet
	slot int
	pes  []int  // the members, by their numbers in the group; the values are the job's numbers
	me   int    // this PE's number in the group
	name string // for reports

	layout        // by where the members really are
	alone  layout // as if each were alone on its host
	board  board  // this PE's own slot

	turns turns
}

// A layout is how the members are spread over hosts.
type layout struct {
	hosts [][]int // the members by host, as numbers in the group; a host's first member leads it
	host  int     // the one of hosts that this PE is in
	here  []int   // hosts[host]
	rank  int     // this PE's place in here; 0 leads
	local []board // the slots of here

	landing landing // of the leaders, for large messages
}

// lead reports whether this PE leads its host.
func (l *layout) lead() bool { return l.rank == 0 }

// layoutBy spreads the members over hosts as hostOf says.
func (g *Group) layoutBy(hostOf func(i int) int) layout {
	var l layout
	byHost := map[int]int{}
	for i := range g.pes {
		h, seen := byHost[hostOf(i)]
		if !seen {
			h = len(l.hosts)
			byHost[hostOf(i)] = h
			l.hosts = append(l.hosts, nil)
		}
		l.hosts[h] = append(l.hosts[h], i)
	}
	l.host = byHost[hostOf(g.me)]
	l.here = l.hosts[l.host]
	for k, i := range l.here {
		l.local = append(l.local, g.n.boardOf(g.pes[i], g.slot))
		if i == g.me {
			l.rank = k
		}
	}
	return l
}

// layoutAlone returns the layout of members that are each alone on their hosts.
func (g *Group) layoutAlone(c *Common) layout {
	return layout{hosts: c.alone[:len(g.pes)], host: g.me, here: c.alone[g.me], local: []board{g.board}}
}

// The slots of the groups that every job has.
const (
	worldSlot = iota
	hostSlot
	firstFreeSlot
)

// groupErrors makes the errors that a program sees. Their types belong to the API above.
type groupErrors struct {
	Misuse   func(op, msg string) // panics
	Mismatch func(call string, calls []string) error
	Aborted  func(pe int, call string, err error) error

	TooManyTeams func() error
}

// A groupSet is the groups of one PE, by their slots.
type groupSet struct {
	n        *Node
	common   *Common
	errors   groupErrors
	landings landings

	mu     sync.Mutex
	groups [MaxTeams]*Group
	high   uint64 // the highest number of a call in any group that has ended
}

// world makes the group of all PEs of the job.
func (s *groupSet) world() *Group { return s.newGroup(worldSlot, s.allPEs(), 0, "world") }

// host makes the group of the PEs of this host.
func (s *groupSet) host() *Group {
	h := s.n.job.Host()
	return s.newGroup(hostSlot, s.allPEs()[h.First:h.First+h.PEs], 0, "host "+h.Name)
}

// allPEs returns the PEs of the job.
func (s *groupSet) allPEs() []int {
	if s.common != nil {
		return s.common.all
	}
	return upTo(s.n.job.NPEs)
}

// newGroup makes the group of members pes, whose calls are numbered from base+1.
func (s *groupSet) newGroup(slot int, pes []int, base uint64, name string) *Group {
	g := &Group{n: s.n, set: s, slot: slot, pes: pes, name: name, me: slices.Index(pes, s.n.job.PE)}
	g.board = s.n.boardOf(s.n.job.PE, slot)
	if s.common != nil {
		g.alone = g.layoutAlone(s.common)
		g.layout = g.alone
	} else {
		g.layout = g.layoutBy(func(i int) int { return s.n.job.HostOf(pes[i]) })
		g.alone = g.layoutBy(func(i int) int { return i })
	}
	g.turns.n, g.turns.met = base, base
	s.mu.Lock()
	s.groups[slot] = g
	s.mu.Unlock()
	return g
}

// destroy ends a group that all members have left.
func (g *Group) destroy() {
	g.release(&g.layout)
	g.release(&g.alone)
	s := g.set
	s.mu.Lock()
	s.groups[g.slot] = nil
	s.high = max(s.high, g.turns.n)
	s.mu.Unlock()
}

// state returns which slots are taken, and the highest number of a call in groups that have ended.
func (s *groupSet) state() (taken [MaxTeams / 64]uint64, high uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.groups {
		if g != nil {
			taken[i/64] |= 1 << (i % 64)
		}
	}
	return taken, s.high
}

// wait waits for the non-blocking calls that are under way on any group.
func (s *groupSet) wait(ctx context.Context) error {
	s.mu.Lock()
	groups := s.groups
	s.mu.Unlock()
	var err error
	for _, g := range groups {
		if g == nil {
			continue
		}
		if r := g.turns.last.Load(); r != nil {
			err = firstError(err, r.wait(ctx))
		}
	}
	return err
}
