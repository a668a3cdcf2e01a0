package flow

// Which paths end in an error. A body that returns one ends the job.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
)

// ReturnsError reports whether a return returns an error for certain.
func ReturnsError(r *ssa.Return) bool {
	if len(r.Results) == 0 {
		return false
	}
	v := stored(r.Block(), r.Results[len(r.Results)-1])
	if !IsError(v.Type()) {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const:
		return underError(r.Block(), true) // the PEs are no longer in step
	case *ssa.MakeInterface:
		return true
	case *ssa.UnOp:
		if _, ok := v.X.(*ssa.Global); ok {
			return true
		}
	case *ssa.Call:
		if fn := calls.Static(&v.Call); fn != nil && (fn.FullName() == "fmt.Errorf" || fn.FullName() == "errors.New") {
			return true
		}
	}
	return underError(r.Block(), false)
}

// underError reports whether b is only reached after an error was found: any error, or one of a call of gopgas.
func underError(b *ssa.BasicBlock, ours bool) bool {
	for ; b.Idom() != nil; b = b.Idom() {
		branch, ok := Last(b.Idom()).(*ssa.If)
		if !ok {
			continue
		}
		op, ok := branch.Cond.(*ssa.BinOp)
		if !ok || !IsError(op.X.Type()) || len(b.Preds) != 1 || ours && !isOurs(stored(b.Idom(), op.X)) {
			continue
		}
		if found := b.Idom().Succs[0] == b; op.Op == token.NEQ && found || op.Op == token.EQL && !found {
			return true
		}
	}
	return false
}

// isOurs reports whether err may be of a call of gopgas: of one, or of a function that is given a context.
func isOurs(err ssa.Value) bool {
	if part, ok := err.(*ssa.Extract); ok {
		err = part.Tuple
	}
	call, ok := err.(*ssa.Call)
	if !ok {
		return true
	}
	_, ok = calls.Of(call)
	return ok || slices.ContainsFunc(call.Call.Args, func(a ssa.Value) bool { return calls.IsContext(a.Type()) })
}

// IsError reports whether t is the type error.
func IsError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// Last returns the last instruction of a block, or nil.
func Last(b *ssa.BasicBlock) ssa.Instruction {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[len(b.Instrs)-1]
}

// Fails reports whether the edge between two blocks is only taken if call has failed: it has returned an error, or
// false.
func Fails(call *ssa.Call, from, to *ssa.BasicBlock) bool {
	branch, ok := Last(from).(*ssa.If)
	if !ok || from.Succs[0] == from.Succs[1] {
		return false
	}
	cond, then := branch.Cond, from.Succs[0] == to
	if not, ok := cond.(*ssa.UnOp); ok && not.Op == token.NOT {
		cond, then = not.X, !then
	}
	if isResult(stored(from, cond), call) {
		return !then
	}
	op, ok := cond.(*ssa.BinOp)
	if !ok || !IsError(op.X.Type()) {
		return false
	}
	return isResult(stored(from, op.X), call) && (op.Op == token.NEQ) == then
}

// isResult reports whether v is what call returns, or a part of that.
func isResult(v ssa.Value, call *ssa.Call) bool {
	if part, ok := v.(*ssa.Extract); ok {
		v = part.Tuple
	}
	return v == call
}

// stored returns what the variable that v is loaded from was set to in block b, or v.
func stored(b *ssa.BasicBlock, v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return v
	}
	for _, i := range slices.Backward(b.Instrs) {
		if s, ok := i.(*ssa.Store); ok && s.Addr == load.X {
			return s.Val
		}
	}
	return v
}
