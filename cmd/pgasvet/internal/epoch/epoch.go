// Package epoch has the states of rules about what a PE has done since it last synchronized with others: what other PEs
// do at the same time, since they run the same program.
//
// A state has facts, and marks: the instructions that may have synchronized last. Where paths meet that have the same
// marks, facts of one path are kept; where one path has synchronized and the other has not, only facts of both. So a
// program whose conditions depend on each other, which the rule does not see, is not accused.
package epoch

import (
	"maps"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// A State is what is known at a point of a function. States are not changed once made.
type State[F any] struct {
	marks map[ssa.Instruction]bool
	facts map[string]F
}

// Facts returns the facts, by key.
func (s State[F]) Facts() map[string]F { return s.facts }

// With returns s with one more fact.
func (s State[F]) With(key string, f F) State[F] {
	if _, has := s.facts[key]; has {
		return s
	}
	next := maps.Clone(s.facts)
	if next == nil {
		next = map[string]F{}
	}
	next[key] = f
	return State[F]{s.marks, next}
}

// Synced returns the state after a synchronization.
func (s State[F]) Synced(by ssa.Instruction) State[F] {
	return State[F]{map[ssa.Instruction]bool{by: true}, nil}
}

// Marked returns s after a synchronization that ends no fact.
func (s State[F]) Marked(by ssa.Instruction) State[F] {
	return State[F]{map[ssa.Instruction]bool{by: true}, s.facts}
}

// Without returns s without the facts that gone says.
func (s State[F]) Without(gone func(key string, f F) bool) State[F] {
	for key, f := range s.facts {
		if gone(key, f) {
			next := maps.Clone(s.facts)
			maps.DeleteFunc(next, gone)
			return State[F]{s.marks, next}
		}
	}
	return s
}

// Of returns the walk of a rule: step is the state after an instruction.
func Of[F any](step func(State[F], ssa.Instruction) State[F]) flow.Flow[State[F]] {
	return flow.Flow[State[F]]{
		Step: step,
		Join: join[F],
		Equal: func(a, b State[F]) bool {
			return maps.Equal(a.marks, b.marks) && sameKeys(a.facts, b.facts)
		},
	}
}

func join[F any](a, b State[F]) State[F] {
	facts := maps.Clone(a.facts)
	if maps.Equal(a.marks, b.marks) {
		if facts == nil {
			facts = map[string]F{}
		}
		for key, f := range b.facts {
			if _, has := facts[key]; !has {
				facts[key] = f
			}
		}
		return State[F]{a.marks, facts}
	}
	maps.DeleteFunc(facts, func(key string, _ F) bool {
		_, has := b.facts[key]
		return !has
	})
	marks := maps.Clone(a.marks)
	if marks == nil {
		marks = map[ssa.Instruction]bool{nil: true}
	}
	maps.Copy(marks, b.marks)
	if len(b.marks) == 0 {
		marks[nil] = true
	}
	return State[F]{marks, facts}
}

// Both is a Join that keeps the facts of both paths only, whatever the marks.
func Both[F any](a, b State[F]) State[F] {
	a.marks, b.marks = map[ssa.Instruction]bool{}, map[ssa.Instruction]bool{nil: true}
	s := join(a, b)
	s.marks = nil
	return s
}

func sameKeys[F any](a, b map[string]F) bool {
	if len(a) != len(b) {
		return false
	}
	for key := range a {
		if _, has := b[key]; !has {
			return false
		}
	}
	return true
}
