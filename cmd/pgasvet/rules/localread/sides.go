package localread

// The two sides of a branch by the PE number: while the PEs of one side come there, those of the other do what stands
// in the other.

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// beside returns s with what the other side of a branch by the PE number puts before it synchronizes.
func (k *checker) beside(s state, from, to *ssa.BasicBlock) state {
	branch, ok := flow.Last(from).(*ssa.If)
	if !ok || len(to.Preds) != 1 {
		return s
	}
	if _, byPE := k.pes.Of(branch.Cond); !byPE || holdsLock(from) {
		return s
	}
	other := from.Succs[0]
	if other == to {
		other = from.Succs[1]
	}
	if len(other.Preds) != 1 {
		return s
	}
	for _, p := range k.putsFrom(other, other, map[*ssa.BasicBlock]bool{}) {
		s = s.With(p.key()+" beside", p)
	}
	return s
}

// holdsLock reports whether a PE has a lock at the end of b: then PEs come there one after the other. Readers hold a
// lock together, so theirs do not count.
func holdsLock(b *ssa.BasicBlock) bool {
	for ; b != nil; b = b.Idom() {
		for _, i := range slices.Backward(b.Instrs) {
			call, ok := i.(*ssa.Call)
			if !ok {
				continue
			}
			if c, ok := calls.Of(call); ok && (c.Type == "LockRef" || c.Package == "locks") {
				switch c.Name {
				case "Lock", "TryLock":
					return true
				case "Unlock":
					return false
				}
			}
		}
	}
	return false
}

// putsFrom returns what the blocks that only this side comes to put, before anything synchronizes.
func (k *checker) putsFrom(side, b *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) (list []put) {
	if seen[b] || !side.Dominates(b) {
		return nil
	}
	seen[b] = true
	for _, i := range b.Instrs {
		if k.syncs.After(i) {
			return list
		}
		list = append(list, k.puts(i)...)
	}
	for _, to := range b.Succs {
		list = append(list, k.putsFrom(side, to, seen)...)
	}
	return list
}
