// Package stackcopy is a rule of pgasvet: copies of symmetric records that are used as if they were symmetric.
//
// v := *c.Local() copies the record to ordinary memory. Its address is no place that other PEs reach: an atomic on a
// field of v is seen by nobody, an address computed from &v leads a remote access astray, and what is stored to a field
// of v stays there.
package stackcopy

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/tree"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "stackcopy", URL: report.Page + "#stackcopy",
	Doc: `find copies of symmetric records that are used as if they were symmetric

It reports a variable that holds a copy of a record from Local or Ptr, when the address of an atomic field, a Signal or a
Lock of it is passed to a function, its address becomes an unsafe.Pointer, or a field is stored to and never read.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	known := map[*ssa.Function]calls.Origins{}
	for _, fn := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		known[fn] = calls.OriginsOf(fn, known[fn.Parent()])
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if v, ok := copied(i, known[fn]); ok {
					check(pass, r, v, i)
				}
			}
		}
	}
	return r.Used(), nil
}

// copied returns the variable that i copies a symmetric record to.
func copied(i ssa.Instruction, known calls.Origins) (*ssa.Alloc, bool) {
	s, ok := i.(*ssa.Store)
	if !ok {
		return nil, false
	}
	v, ok := s.Addr.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	if _, record := s.Val.Type().Underlying().(*types.Struct); !record {
		return nil, false
	}
	load, ok := s.Val.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil, false
	}
	_, symmetric := known[load.X]
	if _, variable := load.X.(*ssa.Alloc); variable {
		return nil, false
	}
	return v, symmetric
}

// uses is how a function uses a copy.
type uses struct {
	whole  bool // it is read as a whole, or its address goes somewhere
	reads  map[int]bool
	stores map[int]token.Pos
}

// check reports what is wrong with a copy.
func check(pass *analysis.Pass, r *report.Reporter, v *ssa.Alloc, copying ssa.Instruction) {
	u := uses{reads: map[int]bool{}, stores: map[int]token.Pos{}}
	for _, use := range *v.Referrers() {
		switch use := use.(type) {
		case *ssa.FieldAddr:
			checkField(pass, r, &u, use, copying)
		case *ssa.Store:
			u.whole = u.whole || use.Val == v
		case *ssa.Convert:
			u.whole = true
			if use.Type() == types.Typ[types.UnsafePointer] {
				r.Report(analysis.Diagnostic{Pos: use.Pos(), SuggestedFixes: fix(pass, copying), Message: "the address of a copy of a symmetric record: no other PE has this memory at that place; use the pointer that Local returns"})
			}
		case *ssa.DebugRef:
		default:
			u.whole = true
		}
	}
	if u.whole {
		return
	}
	for n, pos := range u.stores {
		if !u.reads[n] {
			r.Report(analysis.Diagnostic{Pos: pos, SuggestedFixes: fix(pass, copying), Message: "store to a copy of a symmetric record: no PE sees it, this one neither; store through the pointer that Local returns"})
		}
	}
}

// checkField notes how a field of a copy is used, and reports atomics on it.
func checkField(pass *analysis.Pass, r *report.Reporter, u *uses, field *ssa.FieldAddr, copying ssa.Instruction) {
	_, atomic := calls.AtomicField(field)
	for _, use := range *field.Referrers() {
		switch use := use.(type) {
		case *ssa.Store:
			if use.Addr == field {
				u.stores[field.Field] = use.Pos()
				continue
			}
			u.whole = true
		case *ssa.UnOp:
			u.reads[field.Field] = true
		case *ssa.Call:
			u.reads[field.Field] = true
			if atomic {
				r.Report(analysis.Diagnostic{Pos: use.Pos(), SuggestedFixes: fix(pass, copying), Message: "the address of a word in a copy of a symmetric record: other PEs update the record itself; use the field's accessor, or the pointer that Local returns"})
			}
		default:
			u.reads[field.Field] = true
		}
	}
}

// fix makes v := *c.Local() a pointer.
func fix(pass *analysis.Pass, copying ssa.Instruction) []analysis.SuggestedFix {
	assign, ok := tree.Statement(pass, copying.Pos()).(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Rhs) != 1 {
		return nil
	}
	star, ok := assign.Rhs[0].(*ast.StarExpr)
	if !ok || onlyFields(copying) != nil {
		return nil
	}
	return []analysis.SuggestedFix{{Message: "use the record itself", TextEdits: []analysis.TextEdit{
		{Pos: star.Pos(), End: star.X.Pos(), NewText: nil},
	}}}
}

// onlyFields returns a use of the copy for which a pointer would not do, or nil.
func onlyFields(copying ssa.Instruction) ssa.Instruction {
	for _, use := range *copying.(*ssa.Store).Addr.Referrers() {
		if _, ok := use.(*ssa.FieldAddr); !ok && use != copying {
			return use
		}
	}
	return nil
}
