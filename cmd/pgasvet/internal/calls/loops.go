package calls

// Loops of a function, and the values that change in them.

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// LoopBlocks returns the blocks of the loop that begins with head.
func LoopBlocks(head *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	blocks := map[*ssa.BasicBlock]bool{head: true}
	var add func(*ssa.BasicBlock)
	add = func(b *ssa.BasicBlock) {
		if !blocks[b] {
			blocks[b] = true
			for _, p := range b.Preds {
				add(p)
			}
		}
	}
	for _, p := range head.Preds {
		if head.Dominates(p) {
			add(p)
		}
	}
	return blocks
}

// LoopOf returns the head of a loop, if v is computed from a variable of the loop, or nil.
func LoopOf(v ssa.Value) *ssa.BasicBlock {
	phi := PhiIn(v)
	if phi == nil {
		return nil
	}
	for _, p := range phi.Block().Preds {
		if phi.Block().Dominates(p) {
			return phi.Block()
		}
	}
	return nil
}

// countsByOne reports whether v is the variable of a loop that goes up by one.
func countsByOne(v ssa.Value) bool {
	if !isLoopIndex(v) {
		return false
	}
	phi := PhiIn(v)
	for _, e := range phi.Edges {
		if next, ok := e.(*ssa.BinOp); ok && next.X == phi {
			n, ok := intOf(next.Y, 0)
			return ok && n == 1 && next.Op == token.ADD
		}
	}
	return false
}

// PhiIn returns a variable of a loop that v is computed from, or nil.
func PhiIn(v ssa.Value) (phi *ssa.Phi) {
	Depends(v, func(v ssa.Value) bool {
		p, ok := v.(*ssa.Phi)
		if ok {
			phi = p
		}
		return ok
	})
	return phi
}

// Depends reports whether v is computed from a value that is.
func Depends(v ssa.Value, is func(ssa.Value) bool) bool {
	if v == nil {
		return false
	}
	if is(v) {
		return true
	}
	switch v := v.(type) {
	case *ssa.BinOp:
		return Depends(v.X, is) || Depends(v.Y, is)
	case *ssa.Convert:
		return Depends(v.X, is)
	}
	return false
}
