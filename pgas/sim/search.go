package sim

// Which orders are tried. A search goes through the tree of choices in depth, and turns back where it comes
// to a state that it has been in. Without Config.Reduce it tries every choice. With it, it begins with one
// choice at each node, and adds others where they may matter (partial-order reduction, after C. Flanagan and
// P. Godefroid, "Dynamic partial-order reduction for model checking software", POPL 2005):
//
// When a move b depends on an earlier move a of another proc, and nothing between them forces them to come in
// this order, they race: at the node of a, the proc of b is to be tried, or one that leads to b. When a move
// takes away another proc's, that proc is to be tried before it.
//
// Where the search turns back, moves are cut off that race with those of the path too. So each state keeps
// its future: all the moves that were made from it on (after Y. Yang, X. Chen, G. Gopalakrishnan and R. Kirby,
// "Efficient stateful dynamic partial order reduction", SPIN 2008). In a circle, no state's future is known
// before the first one's is: those of a circle share one, and there every choice is tried.

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// search is what an exploration knows, over all its runs.
type search struct {
	reduce    bool
	seed      maphash.Seed
	seen      map[uint64]*future // by state
	path      []*node
	unchanged int // nodes before this one are as they were in the run before

	footprints   map[string]int32 // of moves with the same footprint
	moves        []*move          // by name
	dependents   []dependents     // by name
	predecessors [][2]set         // by name: scratch of anticipate
}

// dependents are the moves, of the first so many, that depend on one.
type dependents struct {
	checked int
	set
}

// A node is a state on the path, and what was done about it.
type node struct {
	procs        []proc // that can make a move
	todo         []bool // those to be tried
	done         []bool
	taken        int   // the one that makes a move in this run
	move         *move // which is this
	footprint    int32
	predecessors set // the earlier moves of the path that must come before it
	future       *future
	low          int // the first node of the path that a circle leads back to from here
}

// A future is the moves that were made after a state.
type future struct {
	moves     set
	next      *future // if not nil, that one: the state is in a circle with an earlier one
	pathIndex int     // 1 + the place of the state on the path, or 0
}

func newSearch(reduce bool) *search {
	return &search{reduce: reduce, seed: maphash.MakeSeed(), seen: map[uint64]*future{}, footprints: map[string]int32{}}
}

func (r *search) bytes(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

// choose is the choice that is taken next, or -1 where this state was seen before.
func (r *search) choose(x *explorer, s *sim, choices []choice) int {
	if x.depth < len(r.path) {
		return r.revisit(s, r.path[x.depth], choices)
	}
	state := x.state(s)
	if x.soloLoop(state, len(choices)) {
		s.fail(nil, fmt.Errorf("livelock: one PE polls and no other can go on\n\t%w", s.deadlock()))
		return -1
	}
	if f := r.seen[state]; f != nil {
		s.err = errSeen
		r.reachKnown(f.latest(), choices)
		return -1
	}
	n := newNode(choices, len(r.path))
	r.seen[state] = n.future
	r.path = append(r.path, n)
	if r.reduce {
		n.todo[0] = true
	} else {
		n.tryAll()
	}
	return n.taken
}

// revisit is the choice at a node where the search has been before.
func (r *search) revisit(s *sim, n *node, choices []choice) int {
	if len(n.procs) != len(choices) || choices[n.taken].proc() != n.procs[n.taken] {
		s.fail(nil, errors.New("the body does not do the same each time: it depends on more than its World"))
		return -1
	}
	return n.taken
}

func newNode(choices []choice, depth int) *node {
	n := &node{procs: make([]proc, len(choices)), low: depth}
	for i, c := range choices {
		n.procs[i] = c.proc()
	}
	n.todo, n.done = make([]bool, len(choices)), make([]bool, len(choices))
	n.future = &future{pathIndex: depth + 1}
	return n
}

func (n *node) tryAll() {
	for i := range n.todo {
		n.todo[i] = true
	}
}

func (n *node) allTried() bool { return !slices.Contains(n.todo, false) }

// canMove says that p can make a move.
func (n *node) canMove(p proc) bool { return slices.Contains(n.procs, p) }

// backtrack goes back to the last node that has something left to be tried, and reports whether there is one.
func (r *search) backtrack() bool {
	for len(r.path) > 0 {
		i := len(r.path) - 1
		n := r.path[i]
		n.done[n.taken] = true
		for k := range n.todo {
			if n.todo[k] && !n.done[k] {
				n.taken, r.unchanged = k, i
				return true
			}
		}
		r.path = r.path[:i]
		r.leaveNode(n, i)
	}
	return false
}

// leaveNode ends node n, which was the i-th of the path.
func (r *search) leaveNode(n *node, i int) {
	n.future.pathIndex = 0
	if !r.reduce || i == 0 {
		return
	}
	parent := r.path[i-1]
	parent.future.moves.join(n.future.moves)
	if n.low < i {
		parent.low = min(parent.low, n.low)
		n.future.moves, n.future.next = nil, parent.future
	}
}

// latest is the future that f has become a part of.
func (f *future) latest() *future {
	for f.next != nil {
		if f.next.next != nil {
			f.next = f.next.next
		}
		f = f.next
	}
	return f
}

// recordMove notes the last move of x, after which there are these choices.
func (r *search) recordMove(x *explorer, choices []choice) {
	i := x.depth - 1
	if !r.reduce || i < r.unchanged {
		return
	}
	n := r.path[i]
	n.move = x.move.clone()
	n.footprint = r.footprintOf(n.move)
	n.future.moves.add(int(n.footprint))
	var races []int
	n.predecessors, races = r.races(i, n.move)
	for _, k := range races {
		r.addBacktrack(k, n.move.proc, n.predecessors)
	}
	// Who could make a move before this one and cannot now?
	for k, p := range n.procs {
		if k != n.taken && !n.todo[k] && !slices.ContainsFunc(choices, func(c choice) bool { return c.proc() == p }) {
			n.todo[k] = true
		}
	}
}

// races are the moves of the path that m, which is its i-th, may come before instead of after them. before
// are all those that it cannot.
//
// A move without which m's proc could not make one is no race. But those that must come before it may be: who
// waits for a lock might have had it before the one who gave it back.
func (r *search) races(i int, m *move) (before set, races []int) {
	var forced set // by what comes between them
	for k := i - 1; k >= 0; k-- {
		a := r.path[k]
		born := slices.Contains(a.move.created, m.proc)
		if forced.has(k) || !born && !a.move.depends(m) {
			continue
		}
		before.add(k)
		before.join(a.predecessors)
		if !born && r.enabled(k, m.proc) {
			continue
		}
		forced.join(a.predecessors)
		if !born && a.move.proc != m.proc {
			races = append(races, k)
		}
	}
	return before, races
}

// enabled says that the k-th move made it possible for p to make one.
func (r *search) enabled(k int, p proc) bool {
	return k+1 < len(r.path) && !r.path[k].canMove(p) && r.path[k+1].canMove(p)
}

// addBacktrack has p be tried before the k-th move, or one that leads there: of its moves, one must come before
// p's and need not come after the k-th.
func (r *search) addBacktrack(k int, p proc, before set) {
	n := r.path[k]
	first := -1
	leads := func(q proc) bool {
		i := slices.Index(n.procs, q)
		if i < 0 {
			return false
		}
		if first < 0 {
			first = i
		}
		return n.todo[i]
	}
	if leads(p) {
		return
	}
	for i := k + 1; i < len(r.path); i++ {
		if b := r.path[i]; before.has(i) && !b.predecessors.has(k) && leads(b.move.proc) {
			return
		}
	}
	if first < 0 {
		n.tryAll()
		return
	}
	n.todo[first] = true
}

// reachKnown is the end of a run in a state of which the future is known, or which is on the path.
func (r *search) reachKnown(f *future, choices []choice) {
	if !r.reduce || len(r.path) == 0 {
		return
	}
	top := r.path[len(r.path)-1]
	if f.pathIndex > 0 {
		first := r.path[f.pathIndex-1].low
		for _, n := range r.path[first:] {
			n.tryAll()
		}
		top.low = min(top.low, first)
	}
	top.future.moves.join(f.moves)
	r.path = append(r.path, newNode(choices, len(r.path))) // for enabled
	r.raceWithFuture(f)
	r.path = r.path[:len(r.path)-1]
}

// raceWithFuture has the moves of f race with those of the path. What must come before them is known in part.
func (r *search) raceWithFuture(f *future) {
	for len(r.predecessors) < len(r.moves) {
		r.predecessors = append(r.predecessors, [2]set{})
	}
	clear(r.predecessors)
	for k := len(r.path) - 2; k >= 0; k-- {
		a := r.path[k]
		f.moves.common(r.dependentsOf(a.footprint), func(m int) {
			before, forced, who := &r.predecessors[m][0], &r.predecessors[m][1], r.moves[m].proc
			if forced.has(k) {
				return
			}
			before.add(k)
			before.join(a.predecessors)
			if r.enabled(k, who) {
				return
			}
			forced.join(a.predecessors)
			if a.move.proc != who && !a.allTried() {
				r.addBacktrack(k, who, *before)
			}
		})
	}
}

// footprintOf is the number of moves with m's footprint. Epochs are not part of it: they are of one run.
func (r *search) footprintOf(m *move) int32 {
	key := fmt.Append(nil, m.proc, m.global, m.shares, m.quietEnded, m.flow, m.spans)
	name, ok := r.footprints[string(key)]
	if !ok {
		name = int32(len(r.moves))
		r.footprints[string(key)] = name
		r.moves = append(r.moves, m)
		r.dependents = append(r.dependents, dependents{})
	}
	return name
}

// dependentsOf is the moves that depend on those of that name, whatever their epochs are.
func (r *search) dependentsOf(name int32) set {
	a, s := r.moves[name], &r.dependents[name]
	for ; s.checked < len(r.moves); s.checked++ {
		if b := r.moves[s.checked]; a.depends(b) || a.flow != 0 && a.flow == b.flow {
			s.add(s.checked)
		}
	}
	return s.set
}
