package signalcount

// Loops: those over all PEs, and those that wait for a count of one more each time.

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// rangesOverPEs reports whether v depends on the variable of a loop that runs up to the number of PEs.
func rangesOverPEs(v ssa.Value) bool {
	phi := calls.PhiIn(v)
	if phi == nil {
		return false
	}
	for b := range calls.LoopBlocks(phi.Block()) {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		if cond, ok := branch.Cond.(*ssa.BinOp); ok && calls.PhiIn(cond.X) == phi && calls.Depends(cond.Y, isNPEs) {
			return true
		}
	}
	return false
}

func isNPEs(v ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	c, ok := calls.Of(call)
	return ok && c.Is("pgas", "World.NPEs", "Team.NPEs")
}

// A wait is one for a count that is one more each time that its loop runs.
type wait struct {
	call calls.Call
	head *ssa.BasicBlock
	loop map[*ssa.BasicBlock]bool
}

// waitOf returns the wait that c is, if it is one.
func waitOf(c calls.Call) (wait, bool) {
	if !c.Is("pgas", "SignalRef.WaitUntil") || len(c.Args) != 3 || !isAtLeast(c.Args[1], c.Recv.Type()) {
		return wait{}, false
	}
	phi := countIn(c.Args[2])
	if phi == nil {
		return wait{}, false
	}
	w := wait{c, phi.Block(), calls.LoopBlocks(phi.Block())}
	return w, w.loop[c.Instr.Block()]
}

// isAtLeast reports whether v is pgas.GE or pgas.GT. signal is the type of package pgas: the type of v is of another
// package, of which go vet shows a rule only what the program uses.
func isAtLeast(v ssa.Value, signal types.Type) bool {
	c, ok := v.(*ssa.Const)
	named, isNamed := types.Unalias(signal).(*types.Named)
	if !ok || c.Value == nil || !isNamed {
		return false
	}
	for _, name := range []string{"GE", "GT"} {
		cmp, ok := named.Obj().Pkg().Scope().Lookup(name).(*types.Const)
		if ok && constant.Compare(c.Value, token.EQL, cmp.Val()) {
			return true
		}
	}
	return false
}

// countIn returns the variable of a loop, counted up by one, that v is but for what does not change in the loop.
func countIn(v ssa.Value) *ssa.Phi {
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			if next, ok := e.(*ssa.BinOp); ok && next.Op == token.ADD && next.X == v && isOne(next.Y) {
				return v
			}
		}
	case *ssa.Convert:
		return countIn(v.X)
	case *ssa.BinOp:
		if v.Op != token.ADD && v.Op != token.SUB {
			return nil
		}
		phi, other := countIn(v.X), v.Y
		if phi == nil && v.Op == token.ADD {
			phi, other = countIn(v.Y), v.X
		}
		if phi == nil {
			return nil
		}
		if i, ok := other.(ssa.Instruction); ok && calls.LoopBlocks(phi.Block())[i.Block()] {
			return nil
		}
		return phi
	}
	return nil
}

// readAfter returns where the loop of w, after the wait, reads the part of the data of a that the loop's variable
// chooses, with nothing between that waits for other PEs.
func (k *checker) readAfter(w wait, a add, origins calls.Origins) token.Pos {
	chosen := func(v ssa.Value) bool {
		return v != nil && calls.Depends(v, func(v ssa.Value) bool { phi, ok := v.(*ssa.Phi); return ok && phi.Block() == w.head })
	}
	from := w.call.Instr.Block()
	for _, b := range from.Parent().Blocks {
		if !w.loop[b] || !from.Dominates(b) {
			continue
		}
		for n, i := range b.Instrs {
			o, ok := readOf(i, chosen, origins)
			if !ok || a.data != "" && a.data != calls.PlaceOf(o.Call.Recv).Root {
				continue
			}
			if k.nextTo(w.call.Instr, b, n) {
				return i.Pos()
			}
		}
	}
	return token.NoPos
}

// readOf returns the origin of this PE's memory that i reads, or is given, if a chosen index says which part.
func readOf(i ssa.Instruction, chosen func(ssa.Value) bool, origins calls.Origins) (calls.Origin, bool) {
	switch i := i.(type) {
	case *ssa.Call:
		o, ok := origins[i]
		return o, ok && o.Call.Instr == ssa.CallInstruction(i) && anyOf(calls.PlaceOf(o.Call.Recv).Indexes, chosen)
	case *ssa.Slice:
		o, ok := origins[i.X]
		return o, ok && (chosen(i.Low) || chosen(i.High))
	case *ssa.UnOp:
		o, ok := origins[i.X]
		return o, ok && i.Op == token.MUL && chosen(o.Index)
	}
	return calls.Origin{}, false
}

func anyOf(values []ssa.Value, is func(ssa.Value) bool) bool {
	for _, v := range values {
		if is(v) {
			return true
		}
	}
	return false
}

// nextTo reports whether instruction n of b comes after a wait in the same turn of its loop, with nothing between that
// waits for other PEs.
func (k *checker) nextTo(wait ssa.Instruction, b *ssa.BasicBlock, n int) bool {
	for between := b; between != nil; between = between.Idom() {
		instrs := between.Instrs
		if between == b {
			instrs = instrs[:n]
		}
		for at := len(instrs) - 1; at >= 0; at-- {
			if instrs[at] == wait {
				return true
			}
			if k.syncs.After(instrs[at]) {
				return false
			}
		}
		if between == wait.Block() {
			return false // the read comes before the wait
		}
	}
	return false
}
