package coherent

// A walk over all paths of a function. A finding has a state by program point; states of paths that meet are joined until
// nothing changes.

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// flow is a finding's state along the paths of a function.
type flow[S any] struct {
	start S
	// step returns the state after an instruction.
	step func(S, ssa.Instruction) S
	// edge returns the state that a block hands to one of its successors.
	edge func(s S, from, to *ssa.BasicBlock) S
	// join returns the state where paths meet.
	join  func(a, b S) S
	equal func(a, b S) bool
}

// entries returns the states at the beginnings of the blocks that can be reached.
func (f flow[S]) entries(fn *ssa.Function) map[*ssa.BasicBlock]S {
	if len(fn.Blocks) == 0 {
		return nil
	}
	at := map[*ssa.BasicBlock]S{fn.Blocks[0]: f.start}
	for work := []*ssa.BasicBlock{fn.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		s := at[b]
		for _, i := range b.Instrs {
			s = f.step(s, i)
		}
		for _, to := range b.Succs {
			next := f.edge(s, b, to)
			old, reached := at[to]
			if reached {
				next = f.join(old, next)
			}
			if !reached || !f.equal(old, next) {
				at[to] = next
				work = append(work, to)
			}
		}
	}
	return at
}

// visit calls look with each instruction that can be reached and the state before it.
func (f flow[S]) visit(fn *ssa.Function, look func(S, ssa.Instruction)) {
	at := f.entries(fn)
	for _, b := range fn.Blocks {
		s, reached := at[b]
		if !reached {
			continue
		}
		for _, i := range b.Instrs {
			look(s, i)
			s = f.step(s, i)
		}
	}
}

// positionOf returns where an instruction is in the source, or what uses its result if the instruction has no text.
func positionOf(i ssa.Instruction, otherwise token.Pos) token.Pos {
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
