package calls

// Conditions by the PE number under which a block is run.

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// SameRole reports whether a condition by the PE number that leaves some PEs for a leaves the same for b: these may
// have nothing to do with each other, as the root alone.
func (p *PEs) SameRole(a, b *ssa.BasicBlock) bool {
	theirs := p.Guards(b)
	for _, g := range p.Guards(a) {
		for _, h := range theirs {
			if is, known := h.cond.Follows(g.cond, g.is); known && is == h.is {
				return true
			}
		}
	}
	return false
}

// Exclude reports whether no PE runs both blocks: a condition by the PE number leaves the PEs of a no part in b.
func (p *PEs) Exclude(a, b *ssa.BasicBlock) bool {
	theirs := p.Guards(b)
	for _, g := range p.Guards(a) {
		for _, h := range theirs {
			if is, known := h.cond.Follows(g.cond, g.is); known && is != h.is {
				return true
			}
		}
	}
	return false
}

// Misses reports whether a condition by the PE number leaves b to one PE, and that is not the constant pe.
func (p *PEs) Misses(b *ssa.BasicBlock, pe ssa.Value) bool {
	n, ok := intOf(pe, 0)
	if _, constant := pe.(*ssa.Const); !ok || !constant {
		return false
	}
	for _, g := range p.Guards(b) {
		if g.cond.op == token.EQL && g.cond.subject != "" && g.is != g.cond.not && g.cond.with != n {
			return true
		}
	}
	return false
}

// A Guard is a condition that has that value where a block is run.
type Guard struct {
	cond Condition
	is   bool
}

// Guards returns the conditions by the PE number that decide whether b is run.
func (p *PEs) Guards(b *ssa.BasicBlock) (list []Guard) {
	for d := b.Idom(); d != nil; d = d.Idom() {
		branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if !ok || p.known[branch.Cond] == nil {
			continue
		}
		for n, to := range d.Succs {
			if len(to.Preds) == 1 && to.Dominates(b) {
				list = append(list, Guard{ConditionOf(branch.Cond), n == 0})
			}
		}
	}
	return list
}
