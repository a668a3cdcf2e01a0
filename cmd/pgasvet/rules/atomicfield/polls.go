package atomicfield

// Words that PEs wait for, and that are no atomics where they are read or set.

import (
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// polls reports the loops of fn that wait for a plain word: they end when a word of symmetric memory has another value,
// and nothing in them can change it.
func (k *checker) polls(fn *ssa.Function) {
	for _, head := range fn.Blocks {
		if !slices.ContainsFunc(head.Preds, head.Dominates) {
			continue
		}
		loop := calls.LoopBlocks(head)
		if !k.isIdle(fn, loop) {
			continue
		}
		for _, b := range fn.Blocks {
			branch, ok := flow.Last(b).(*ssa.If)
			if !ok || !loop[b] || loop[b.Succs[0]] == loop[b.Succs[1]] {
				continue
			}
			if pos := k.wordIn(branch.Cond, loop); pos.IsValid() {
				k.report.Report(analysis.Diagnostic{Pos: pos, Message: "a loop that waits for a plain word of symmetric memory: " +
					"the store of another PE may never be seen, and orders nothing; use an Atomic or a Signal, and WaitUntil"})
			}
		}
	}
}

// isIdle reports whether a loop does nothing but look, and let time pass.
func (k *checker) isIdle(fn *ssa.Function, loop map[*ssa.BasicBlock]bool) bool {
	for _, b := range fn.Blocks {
		if !loop[b] {
			continue
		}
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store, *ssa.MapUpdate, *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer, *ssa.Next, *ssa.Phi:
				return false
			case *ssa.UnOp:
				if i.Op == token.ARROW {
					return false
				}
			case *ssa.Call:
				if !isIdle(i) {
					return false
				}
			}
		}
	}
	return true
}

// isIdle reports whether a call lets time pass, or looks.
func isIdle(call *ssa.Call) bool {
	if c, ok := calls.Of(call); ok {
		switch c.Name {
		case "Sleep", "Yield", "PE", "NPEs", "At", "Local", "Ptr", "Get", "Now", "Len", "Field":
			return c.Package == "pgas"
		}
		return false
	}
	if call.Call.IsInvoke() {
		return call.Call.Method.FullName() == "(context.Context).Err"
	}
	fn := calls.Static(&call.Call)
	return fn != nil && (fn.FullName() == "time.Sleep" || fn.FullName() == "runtime.Gosched")
}

// wordIn returns where the word of symmetric memory is read that a condition of a loop depends on.
func (k *checker) wordIn(cond ssa.Value, loop map[*ssa.BasicBlock]bool) (pos token.Pos) {
	calls.Depends(cond, func(v ssa.Value) bool {
		switch v := v.(type) {
		case *ssa.UnOp:
			if v.Op == token.NOT {
				pos = k.wordIn(v.X, loop)
				return pos.IsValid()
			}
			_, plain := k.plain(v.X, false, v)
			if plain && v.Op == token.MUL && loop[v.Block()] {
				pos = flow.PositionOf(v, cond.Pos())
			}
		case *ssa.Call:
			if c, ok := calls.Of(v); ok && c.Package == "pgas" && c.Type == "Ref" && c.Name == "Get" && loop[v.Block()] {
				pos = v.Pos()
			}
		}
		return pos.IsValid()
	})
	return pos
}

// putsOfFlags reports the puts to words of other PEs that fn waits for.
func (k *checker) putsOfFlags(fn *ssa.Function) {
	waited := map[string]string{}
	var puts []calls.Call
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			c, ok := calls.Of(i)
			switch {
			case !ok:
			case c.Is("pgas", "Atomic.WaitUntil", "Atomic.Test", "AtomicFloat.WaitUntil", "AtomicFloat.Test"):
				waited[calls.PlaceOf(c.Recv).Word()] = c.String()
			case c.Is("pgas", "Ref.Put", "Ref.PutNB") && c.Field == "" && !k.pes.IsNumber(c.Args[0]) && isSetting(c.Args[1]):
				puts = append(puts, c)
			}
		}
	}
	for _, c := range puts {
		word := calls.PlaceOf(c.Recv).Word()
		if by := waited[word]; word != "" && by != "" {
			k.report.Report(analysis.Diagnostic{Pos: c.Instr.Pos(), Message: fmt.Sprintf(
				"%s of a word that other PEs wait for by %s: a plain put is no flag; use Set of an Atomic, or a Signal", c, by)})
		}
	}
}

// isSetting reports whether v is what a flag is set to: a constant other than 0, which makes it ready for the next
// wait.
func isSetting(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && calls.Path(c) != "0"
}
