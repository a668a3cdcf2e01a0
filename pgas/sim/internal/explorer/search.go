package explorer

// The search: which orders are tried. It goes through the tree of choices depth first, and turns back at a known
// state. Without reduction it tries every choice. With it, it begins with one
// choice at each node, and adds others where they may matter (partial-order reduction, after C. Flanagan and
// P. Godefroid, "Dynamic partial-order reduction for model checking software", POPL 2005):
//
// A move b races with an earlier move a of another process if b depends on a, and no move between them forces this
// order. Then, at the node of a, the process of b is to be tried, or one that leads to b. When a move disables
// another process, that process is to be tried before it.
//
// Where the search turns back, it cuts off moves that may race with those of the path too. So each state keeps
// its future: all the moves that were made after it (after Y. Yang, X. Chen, G. Gopalakrishnan and R. Kirby,
// "Efficient stateful dynamic partial order reduction", SPIN 2008). In a circle, no state's future is known
// before that of the first one is. So the states of a circle share one future, and at each of them every choice is
// tried.

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// Search is the knowledge of an exploration over all its runs.
type Search struct {
	reduce    bool
	seed      maphash.Seed
	seen      map[uint64]*future // by state
	path      []*node
	unchanged int // nodes before this one are as they were in the run before

	footprints   map[string]int32 // by what a move has read and written
	moves        []*move          // by footprint
	dependents   []dependents     // by footprint
	predecessors [][2]set         // by footprint: scratch of raceWithFuture
}

// dependents are the moves that depend on a move.
type dependents struct {
	checked int // how many moves were compared with it so far
	set
}

// A node is a state on the path, and which choices were tried at it.
type node struct {
	procs        []proc // the processes that can make a move
	todo         []bool // by process: it is to be tried
	done         []bool // by process: it has been tried
	taken        int    // index of the process that makes a move in this run
	move         *move  // the move of this run
	footprint    int32  // number of the move's footprint
	predecessors set    // earlier moves of the path that must come before it
	future       *future
	low          int // the first node of the path to which a circle leads back from this one
}

// A future is the moves that were made after a state.
type future struct {
	moves     set
	next      *future // nil, or the future of an earlier state of the same circle
	pathIndex int     // 1 + the index of the state on the path, or 0
}

// NewSearch returns a search that has tried nothing. With reduce it leaves out orders that do not matter.
func NewSearch(reduce bool) *Search {
	return &Search{reduce: reduce, seed: maphash.MakeSeed(), seen: map[uint64]*future{}, footprints: map[string]int32{}}
}

// States returns how many different states were reached.
func (r *Search) States() int { return len(r.seen) }

// bytes returns a digest of b.
func (r *Search) bytes(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

// choose returns the index of the choice to take, or -1 if this state is known.
func (r *Search) choose(x *Explorer, choices []choice) int {
	if x.depth < len(r.path) {
		return r.revisit(x, r.path[x.depth], choices)
	}
	state := x.state()
	if x.soloLoop(state, len(choices)) {
		x.net.Engine.Fail(nil, fmt.Errorf("livelock: one PE polls and no other can go on\n\t%w", x.net.Deadlock()))
		return -1
	}
	if f := r.seen[state]; f != nil {
		x.net.Engine.Fail(nil, ErrSeen)
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

// revisit returns the choice at a node where an earlier run has been.
func (r *Search) revisit(x *Explorer, n *node, choices []choice) int {
	if len(n.procs) != len(choices) || choices[n.taken].proc() != n.procs[n.taken] {
		x.net.Engine.Fail(nil, errors.New("the body does not do the same each time: it depends on more than its World"))
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

// canMove reports whether p can make a move at n.
func (n *node) canMove(p proc) bool { return slices.Contains(n.procs, p) }

// Backtrack goes back to the last node that has a process left to be tried, and reports whether there is one.
func (r *Search) Backtrack() bool {
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
func (r *Search) leaveNode(n *node, i int) {
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

// latest returns the future that f has become a part of.
func (f *future) latest() *future {
	for f.next != nil {
		if f.next.next != nil {
			f.next = f.next.next
		}
		f = f.next
	}
	return f
}

// recordMove records the last move of x, after which there are these choices.
func (r *Search) recordMove(x *Explorer, choices []choice) {
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
	// Add the processes that this move has disabled.
	for k, p := range n.procs {
		if k != n.taken && !n.todo[k] && !slices.ContainsFunc(choices, func(c choice) bool { return c.proc() == p }) {
			n.todo[k] = true
		}
	}
}

// races returns the moves of the path that m, its i-th move, may come before instead of after: races. before
// are the moves that must come before m.
//
// A move that has enabled m's process is no race. But the moves that must come before that one may be: a process that
// waits for a lock might have got it before the process that released it.
func (r *Search) races(i int, m *move) (before set, races []int) {
	var forced set // by moves between them
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

// enabled reports whether the k-th move made it possible for p to make one.
func (r *Search) enabled(k int, p proc) bool {
	return k+1 < len(r.path) && !r.path[k].canMove(p) && r.path[k+1].canMove(p)
}

// addBacktrack marks p to be tried before the k-th move, unless a process is marked that leads there: one of its
// moves must come before p's, and need not come after the k-th.
func (r *Search) addBacktrack(k int, p proc, before set) {
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

// reachKnown ends a run at a state with a known future, or one that is on the path.
func (r *Search) reachKnown(f *future, choices []choice) {
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
	r.path = append(r.path, newNode(choices, len(r.path))) // so that enabled finds the choices
	r.raceWithFuture(f)
	r.path = r.path[:len(r.path)-1]
}

// raceWithFuture adds the races of the moves of f with those of the path. What must come before them is known in part.
func (r *Search) raceWithFuture(f *future) {
	for len(r.predecessors) < len(r.moves) {
		r.predecessors = append(r.predecessors, [2]set{})
	}
	clear(r.predecessors)
	for k := len(r.path) - 2; k >= 0; k-- {
		a := r.path[k]
		f.moves.common(r.dependentsOf(a.footprint), func(m int) {
			before, forced, p := &r.predecessors[m][0], &r.predecessors[m][1], r.moves[m].proc
			if forced.has(k) {
				return
			}
			before.add(k)
			before.join(a.predecessors)
			if r.enabled(k, p) {
				return
			}
			forced.join(a.predecessors)
			if a.move.proc != p && !a.allTried() {
				r.addBacktrack(k, p, *before)
			}
		})
	}
}

// footprintOf returns the number of m's footprint. Epochs are not part of a footprint: they are those of one run.
func (r *Search) footprintOf(m *move) int32 {
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

// dependentsOf returns the moves that depend on those of a footprint, in any epoch.
func (r *Search) dependentsOf(name int32) set {
	a, s := r.moves[name], &r.dependents[name]
	for ; s.checked < len(r.moves); s.checked++ {
		if b := r.moves[s.checked]; a.depends(b) || a.flow != 0 && a.flow == b.flow {
			s.add(s.checked)
		}
	}
	return s.set
}
