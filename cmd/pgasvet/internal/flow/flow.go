// Package flow walks all paths of a function. A rule has a state by program point; states of paths that meet are joined
// until nothing changes.
package flow

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// mostVisits bounds the walk of a function whose states do not come to rest: its rule then finds nothing there.
const mostVisits = 200

// A Flow is a rule's state along the paths of a function.
type Flow[S any] struct {
	Start S
	// Step returns the state after an instruction.
	Step func(S, ssa.Instruction) S
	// Edge returns the state that a block hands to one of its successors. If it is nil, that is the state at the end.
	Edge func(s S, from, to *ssa.BasicBlock) S
	// Join returns the state where paths meet.
	Join  func(a, b S) S
	Equal func(a, b S) bool
}

// entries returns the states at the beginnings of the blocks that can be reached.
func (f Flow[S]) entries(fn *ssa.Function) map[*ssa.BasicBlock]S {
	if len(fn.Blocks) == 0 {
		return nil
	}
	at := map[*ssa.BasicBlock]S{fn.Blocks[0]: f.Start}
	visits := map[*ssa.BasicBlock]int{}
	for work := []*ssa.BasicBlock{fn.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		if visits[b]++; visits[b] > mostVisits {
			return nil
		}
		s := at[b]
		for _, i := range b.Instrs {
			s = f.Step(s, i)
		}
		for _, to := range b.Succs {
			next := s
			if f.Edge != nil {
				next = f.Edge(s, b, to)
			}
			old, reached := at[to]
			if reached {
				next = f.Join(old, next)
			}
			if !reached || !f.Equal(old, next) {
				at[to] = next
				work = append(work, to)
			}
		}
	}
	return at
}

// Visit calls look with each instruction that can be reached and the state before it.
func (f Flow[S]) Visit(fn *ssa.Function, look func(S, ssa.Instruction)) {
	at := f.entries(fn)
	for _, b := range fn.Blocks {
		s, reached := at[b]
		if !reached {
			continue
		}
		for _, i := range b.Instrs {
			look(s, i)
			s = f.Step(s, i)
		}
	}
}

// PositionOf returns where an instruction is in the source, or what uses its result if the instruction has no text.
func PositionOf(i ssa.Instruction, otherwise token.Pos) token.Pos {
	if i.Pos().IsValid() {
		return i.Pos()
	}
	if v, ok := i.(ssa.Value); ok && v.Referrers() != nil {
		for _, use := range *v.Referrers() {
			if use.Pos().IsValid() {
				return use.Pos()
			}
		}
	}
	return otherwise
}
