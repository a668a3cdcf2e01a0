// Package topo describes which PEs are near each other: levels from the whole machine down to the core, and
// for each level the element that a PE is in. Team splits, locks and the simulator use the same Tree.
//
// A Tree is made in three steps. Detect reads the PE's own Place from its host, 64 bytes. The PEs exchange their
// places. Build makes the tree of all places, of the hosts of the job, and of the user's Spec. It is a pure function,
// so it returns the same on every PE.
//
// If the element of a PE is not known, the PE is alone: a PE that may run on every CPU of two sockets shares no element
// of the level socket with another PE.
//
//ci:nocgo=short
package topo

import (
	"fmt"
	"slices"
	"strings"
)

// The levels that have a meaning to this package. A user may name others.
const (
	Machine = "machine" // all PEs: the first level of every tree
	Block   = "block"   // of Slurm's topology/block
	Switch  = "switch"  // of Slurm's topology/tree: the one next to the hosts; switch2 is the one above
	Host    = "host"
	Socket  = "socket"
	NUMA    = "numa"
	Cache   = "cache" // the largest cache that CPUs share, most often L3
	Core    = "core"
)

// Tree is the topology of a number of PEs. It does not change.
//
// Invariant: levels nest. PEs that share an element of one level share one of every level before it.
type Tree struct {
	npes   int
	levels []Level // levels[0] is the machine
}

// Level is one level of a tree. Its elements are numbered from 0 in the order of their lowest PEs.
type Level struct {
	name      string
	elementOf []int32 // elementOf[pe] is the element of pe
	first     []int32 // first[e] is the lowest PE of element e
}

// newTree returns a tree of levels, the machine first. The error names two PEs that show that levels do not nest.
func newTree(npes int, levels []Level) (*Tree, error) {
	t := &Tree{npes: npes, levels: levels}
	for i := 1; i < len(levels); i++ {
		if a, b, ok := levels[i].nestsIn(levels[i-1]); !ok {
			return nil, fmt.Errorf("levels must nest, but PEs %d and %d share one %s and not one %s", a, b, levels[i].name, levels[i-1].name)
		}
	}
	return t, nil
}

// nestsIn reports whether PEs that share an element of l share one of outer. If not, a and b are two that do not.
func (l Level) nestsIn(outer Level) (a, b int, ok bool) {
	for pe, e := range l.elementOf {
		if first := l.first[e]; outer.elementOf[pe] != outer.elementOf[first] {
			return int(first), pe, false
		}
	}
	return 0, 0, true
}

// newLevel returns a level of npes PEs. Two PEs share an element if their keys are equal.
func newLevel[K comparable](name string, npes int, key func(pe int) K) Level {
	l := Level{name: name, elementOf: make([]int32, npes)}
	known := map[K]int32{}
	for pe := range npes {
		k := key(pe)
		e, ok := known[k]
		if !ok {
			e = int32(len(l.first))
			known[k] = e
			l.first = append(l.first, int32(pe))
		}
		l.elementOf[pe] = e
	}
	return l
}

// NPEs returns the number of PEs.
func (t *Tree) NPEs() int { return t.npes }

// Depth returns the number of levels.
func (t *Tree) Depth() int { return len(t.levels) }

// LevelAt returns level i: the machine is 0, the innermost is Depth()-1.
func (t *Tree) LevelAt(i int) Level { return t.levels[i] }

// Names lists the levels from the machine inwards.
func (t *Tree) Names() []string {
	names := make([]string, len(t.levels))
	for i, l := range t.levels {
		names[i] = l.name
	}
	return names
}

// Level returns the level with that name. The error lists the levels that there are.
func (t *Tree) Level(name string) (Level, error) {
	i := slices.IndexFunc(t.levels, func(l Level) bool { return l.name == name })
	if i < 0 {
		return Level{}, fmt.Errorf("there is no level %q: this job has %s (PGAS_TOPO says which)", name, strings.Join(t.Names(), ", "))
	}
	return t.levels[i], nil
}

// Common returns the innermost level of which PEs a and b share an element, as an index for LevelAt: their distance.
// The machine is 0.
func (t *Tree) Common(a, b int) int {
	i := len(t.levels) - 1
	for i > 0 && t.levels[i].elementOf[a] != t.levels[i].elementOf[b] {
		i--
	}
	return i
}

// Sub returns the tree of some PEs of t: its PE i is pes[i]. It has the levels of t. Elements without
// any of these PEs are left out, so the others are renumbered.
func (t *Tree) Sub(pes []int) *Tree {
	s := &Tree{npes: len(pes), levels: make([]Level, len(t.levels))}
	for i, l := range t.levels {
		s.levels[i] = newLevel(l.name, len(pes), func(pe int) int32 { return l.elementOf[pes[pe]] })
	}
	return s
}

// Trim returns t without levels that add nothing: those that divide no element of the level before them,
// and those in which every PE is alone. The machine stays.
func (t *Tree) Trim() *Tree {
	s := &Tree{npes: t.npes, levels: t.levels[:1:1]}
	for _, l := range t.levels[1:] {
		if l.Elements() > s.levels[len(s.levels)-1].Elements() && l.Elements() < t.npes {
			s.levels = append(s.levels, l)
		}
	}
	return s
}

// Name returns the name of the level.
func (l Level) Name() string { return l.name }

// Elements returns the number of elements.
func (l Level) Elements() int { return len(l.first) }

// Element returns the element that pe is in.
func (l Level) Element(pe int) int { return int(l.elementOf[pe]) }

// Share reports whether PEs a and b are in one element.
func (l Level) Share(a, b int) bool { return l.elementOf[a] == l.elementOf[b] }

// Representative returns the lowest PE of an element. A word that stands for the element is in its heap.
func (l Level) Representative(element int) int { return int(l.first[element]) }

// Members lists the PEs of an element in ascending order.
func (l Level) Members(element int) []int {
	var pes []int
	for pe := int(l.first[element]); pe < len(l.elementOf); pe++ {
		if l.Element(pe) == element {
			pes = append(pes, pe)
		}
	}
	return pes
}
