// Package afterfree is a rule of pgasvet: uses of symmetric memory after Free or Realloc.
//
// Free gives the memory back on every PE, and the next allocation takes it. A reference, a range or memory from Local
// that was taken before is then another allocation's. With PGAS_CHECK=1 such an access panics, if a run comes to it.
package afterfree

import (
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/tree"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "afterfree", URL: report.Page + "#afterfree",
	Doc: `find uses of symmetric memory after it was freed

It reports a call on an allocation, or on a reference or range of it, and an access to its memory from Local or Ptr,
after Free or Realloc of the allocation has succeeded on every path.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// freed is a fact: an allocation that was freed.
type freed struct {
	place calls.Place
	by    *ssa.Call
	name  string
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	known := map[*ssa.Function]calls.Origins{}
	for _, fn := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		known[fn] = calls.OriginsOf(fn, known[fn.Parent()])
		f := epoch.Of(step)
		f.Join = epoch.Both[freed]
		f.Edge = func(s epoch.State[freed], from, to *ssa.BasicBlock) epoch.State[freed] {
			return s.Without(func(_ string, x freed) bool { return flow.Fails(x.by, from, to) })
		}
		f.Visit(fn, func(s epoch.State[freed], i ssa.Instruction) {
			if len(s.Facts()) == 0 || tree.ExpectsPanic(pass, i.Pos()) {
				return
			}
			check(pass, r, s, i, known[fn])
		})
	}
	return r.Used(), nil
}

// step returns what is freed after i. What is assigned again, or computed again in a loop, is another allocation.
func step(s epoch.State[freed], i ssa.Instruction) epoch.State[freed] {
	switch i := i.(type) {
	case *ssa.Store:
		to := "*" + calls.Path(i.Addr)
		s = s.Without(func(_ string, x freed) bool { return x.place.Root == to })
	case *ssa.Call:
		c, ok := calls.Of(i)
		if !ok {
			return s.Without(func(_ string, x freed) bool { return !x.place.IsLocal() }) // it may allocate again
		}
		if frees(c) {
			p := calls.PlaceOf(c.Recv)
			return s.With(p.Root, freed{p, i, c.String()})
		}
	}
	if v, ok := i.(ssa.Value); ok {
		return s.Without(func(_ string, x freed) bool { return x.place.DependsOn(v) })
	}
	return s
}

func frees(c calls.Call) bool { return c.Is("pgas", "Sym.Free", "Sym.Realloc") }

// check reports i if it uses what s says is freed.
func check(pass *analysis.Pass, r *report.Reporter, s epoch.State[freed], i ssa.Instruction, known calls.Origins) {
	for _, v := range used(i) {
		var p calls.Place
		if o, ok := known[v]; ok {
			p = calls.PlaceOf(o.Call.Recv)
		} else if isReference(v) {
			p = calls.PlaceOf(v)
		} else {
			continue
		}
		x, ok := s.Facts()[p.Root]
		if !ok || !i.Pos().IsValid() {
			continue
		}
		r.Report(analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf(
			"use of symmetric memory after %s in line %d: it may be another allocation's now; free it after its last use", x.name, pass.Fset.Position(x.by.Pos()).Line)})
		return
	}
}

// isReference reports whether v is an allocation, or refers to symmetric memory.
func isReference(v ssa.Value) bool {
	if generated, _ := calls.GeneratedType(v.Type()); generated != "" {
		return true
	}
	return calls.IsType(v.Type(), "Sym", "Ref", "Slice", "Atomic", "AtomicFloat", "AtomicSlice", "SignalRef", "SignalSlice", "LockRef", "Short")
}

// used returns the values whose memory an instruction accesses, or passes to a call.
func used(i ssa.Instruction) []ssa.Value {
	switch i := i.(type) {
	case *ssa.UnOp:
		return []ssa.Value{i.X}
	case *ssa.Store:
		return []ssa.Value{i.Addr}
	case *ssa.Call:
		if c, ok := calls.Of(i); ok && c.Recv != nil && (c.Name == "Len" || c.Name == "On" || c.Name == "Sym") {
			return nil
		}
		return i.Call.Args
	}
	return nil
}
