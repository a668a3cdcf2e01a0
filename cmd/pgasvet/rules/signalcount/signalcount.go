// Package signalcount is a rule of pgasvet: chunks of several senders that one signal counts, and that are read one by
// one.
//
// A signal to which one sender adds counts its puts in their order. If several add to it, a value of k says that k puts
// have come, but not of which senders.
package signalcount

import (
	"fmt"
	"go/constant"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "signalcount", URL: report.Page + "#signalcount",
	Doc: `find chunks that are read one by one as a signal counts them which several PEs add to

It reports a wait for a count that grows by one in a loop, and a read in that loop of the chunk of that number, if the
same function adds to the signal on every PE, to one target or to all PEs.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// An add adds to a signal to which other PEs add, too.
type add struct {
	call calls.Call
	data string // path of the allocation that is put with the signal, or empty
}

// A checker looks at the functions of a package.
type checker struct {
	pass   *analysis.Pass
	report *report.Reporter
	pes    *calls.PEs
	syncs  *calls.Syncs
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	k := &checker{pass, report.New(pass), calls.PEsOf(functions), calls.SyncsOf(functions, calls.Call.Synchronizes)}
	for _, fn := range functions {
		k.check(fn)
	}
	return k.report.Used(), nil
}

// check looks at a function.
func (k *checker) check(fn *ssa.Function) {
	adds := map[string][]add{}
	eachCall(fn, func(c calls.Call) {
		if signal, a, ok := k.addOf(c); ok {
			adds[signal] = append(adds[signal], a)
		}
	})
	if len(adds) == 0 {
		return
	}
	origins := calls.OriginsOf(fn, nil)
	eachCall(fn, func(c calls.Call) {
		w, ok := waitOf(c)
		if !ok {
			return
		}
		for _, a := range adds[k.signalOf(c.Recv)] {
			if read := k.readAfter(w, a, origins); read.IsValid() {
				k.report.Report(analysis.Diagnostic{Pos: c.Instr.Pos(), Message: fmt.Sprintf(
					"the signal counts what several PEs add by %s of line %d, not whose data has come, and line %d reads a chunk after each: "+
						"take a signal for each sender, or wait for all before the first read", a.call, k.line(a.call.Instr.Pos()), k.line(read))})
				return
			}
		}
	})
}

func (k *checker) line(pos token.Pos) int { return k.pass.Fset.Position(pos).Line }

// eachCall calls f with the calls of gopgas that fn makes.
func eachCall(fn *ssa.Function, f func(calls.Call)) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if c, ok := calls.Of(i); ok {
				f(c)
			}
		}
	}
}

// addOf returns the signal that c adds a fixed number to, if several PEs add to that of one target.
func (k *checker) addOf(c calls.Call) (signal string, a add, ok bool) {
	if len(c.Args) < 2 || !isConst(c.Args[len(c.Args)-1]) {
		return "", add{}, false
	}
	a.call = c
	switch {
	case c.Is("pgas", "SignalRef.Add"):
		signal = k.signalOf(c.Recv)
	case (c.Type == "Ref" || c.Type == "Slice") && strings.TrimSuffix(c.Name, "NB") == "PutSignalAdd":
		signal = k.signalOf(c.Args[len(c.Args)-2])
		a.data = calls.PlaceOf(c.Recv).Root
	}
	return signal, a, signal != "" && (isConst(c.Args[0]) || rangesOverPEs(c.Args[0])) && k.severalRun(c.Instr.Block())
}

func isConst(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}

// signalOf names a signal, or returns "" if PEs may mean different signals by v.
func (k *checker) signalOf(v ssa.Value) string {
	p := calls.PlaceOf(v)
	name := p.Root + "/" + p.Index + "/" + p.Field
	for _, at := range p.Indexes {
		if !isConst(at) {
			return ""
		}
	}
	for _, at := range p.Args {
		if !isConst(at) {
			return ""
		}
		name += "/" + calls.Path(at)
	}
	for _, d := range p.Deps {
		if _, ok := k.pes.Of(d); ok || !isFixed(d) {
			return ""
		}
	}
	return name
}

// isFixed reports whether v is not one of several values that a loop or a PE chooses from.
func isFixed(v ssa.Value) bool {
	for {
		switch at := v.(type) {
		case *ssa.UnOp:
			v = at.X
		case *ssa.FieldAddr:
			v = at.X
		case *ssa.Field:
			v = at.X
		case *ssa.ChangeType:
			v = at.X
		case *ssa.IndexAddr:
			if !isConst(at.Index) {
				return false
			}
			v = at.X
		case *ssa.Index, *ssa.Lookup, *ssa.Phi, *ssa.Next:
			return false
		default:
			return true
		}
	}
}

// severalRun reports whether no condition by the PE number, or by what is not known, leaves b to a single PE.
func (k *checker) severalRun(b *ssa.BasicBlock) bool {
	for d := b.Idom(); d != nil; d = d.Idom() {
		branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		for n, next := range d.Succs {
			if len(next.Preds) == 1 && next.Dominates(b) && !k.leavesSeveral(branch.Cond, n == 0) {
				return false
			}
		}
	}
	return true
}

// leavesSeveral reports whether cond is what it is for several PEs: for all, or for all but one.
func (k *checker) leavesSeveral(cond ssa.Value, is bool) bool {
	op, ok := cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	switch op.Op {
	case token.EQL, token.NEQ:
		return isNil(op.X) || isNil(op.Y) || (k.pes.IsNumber(op.X) || k.pes.IsNumber(op.Y)) && is == (op.Op == token.NEQ)
	case token.GTR:
		if k.pes.IsNumber(op.X) && calls.Path(op.Y) == "0" {
			return is
		}
	}
	_, byPE := k.pes.Of(op)
	return !byPE
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}

// isOne reports whether v is the number 1.
func isOne(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Int && calls.Path(c) == "1"
}
