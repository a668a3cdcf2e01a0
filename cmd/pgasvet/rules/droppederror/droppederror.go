// Package droppederror is a rule of pgasvet: errors of calls that wait for other PEs, and that nobody looks at.
//
// A collective or a wait that fails has not done what the next line relies on: a peer is lost, the PEs differ in what
// they call, or the context has ended. A program that goes on reads what has not arrived.
package droppederror

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/tree"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "droppederror", URL: report.Page + "#droppederror",
	Doc: `find errors of collectives and waits that are dropped

It reports a call of gopgas that waits for other PEs and whose error is not used: as a statement, in a defer or a go
statement, or assigned to a variable that is not read; and a non-blocking collective whose Request is.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	for _, fn := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if c, ok := calls.Of(i); ok {
					check(pass, r, c)
				}
			}
		}
	}
	return r.Used(), nil
}

// check reports c if its error, or its Request, is dropped.
func check(pass *analysis.Pass, r *report.Reporter, c calls.Call) {
	results := c.Instr.Common().Signature().Results()
	if results.Len() == 0 || isUsed(c.Instr, results.Len()) || isBlank(pass, c) || tree.ExpectsPanic(pass, c.Instr.Pos()) {
		return
	}
	last := results.At(results.Len() - 1).Type()
	switch {
	case calls.IsType(last, "Request") && c.Type == "":
		r.Report(analysis.Diagnostic{Pos: c.Instr.Pos(), Message: fmt.Sprintf(
			"the Request of %s is dropped: nothing waits for the collective, and its error is lost; call Wait of it", c)})
	case isError(last) && waits(c) && !isDeferredClose(c):
		r.Report(analysis.Diagnostic{Pos: c.Instr.Pos(), SuggestedFixes: fix(pass, c), Message: fmt.Sprintf(
			"the error of %s is dropped: after a failure the lines that follow rely on what has not happened; return it", c)})
	}
}

// waits reports whether c is a call whose error says that other PEs have not done their part.
func waits(c calls.Call) bool {
	_, collective := c.Team()
	return collective || c.Context() != nil || c.Is("pgas", "Request.Test", "WaitSet.Err")
}

// isDeferredClose reports whether c leaves the job at the end of a function. That function's own error comes first.
func isDeferredClose(c calls.Call) bool {
	_, deferred := c.Instr.(*ssa.Defer)
	return deferred && c.Is("pgas", "World.Close")
}

// isUsed reports whether something reads the last of n results.
func isUsed(i ssa.CallInstruction, n int) bool {
	call, ok := i.(*ssa.Call)
	if !ok {
		return false // go and defer drop results
	}
	for _, use := range *call.Referrers() {
		if n == 1 {
			return true
		}
		if part, ok := use.(*ssa.Extract); !ok || part.Index == n-1 && len(*part.Referrers()) > 0 {
			return true
		}
	}
	return false
}

// isBlank reports whether the program says by _ = that it drops all results of c.
func isBlank(pass *analysis.Pass, c calls.Call) bool {
	assign, ok := tree.Statement(pass, c.Instr.Pos()).(*ast.AssignStmt)
	return ok && !slices.ContainsFunc(assign.Lhs, func(to ast.Expr) bool {
		name, ok := to.(*ast.Ident)
		return !ok || name.Name != "_"
	})
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// fix returns the error where the function returns nothing else.
func fix(pass *analysis.Pass, c calls.Call) []analysis.SuggestedFix {
	statement, ok := tree.Statement(pass, c.Instr.Pos()).(*ast.ExprStmt)
	if !ok {
		return nil
	}
	enclosing := tree.Enclosing(pass, c.Instr.Pos())
	if enclosing == nil || enclosing.Results.NumFields() != 1 || !isError(pass.TypesInfo.TypeOf(enclosing.Results.List[0].Type)) {
		return nil
	}
	blanks := strings.Repeat("_, ", c.Instr.Common().Signature().Results().Len()-1)
	tabs := tree.Indent(pass, statement.Pos())
	return []analysis.SuggestedFix{{Message: "return the error", TextEdits: []analysis.TextEdit{
		{Pos: statement.Pos(), End: statement.Pos(), NewText: []byte("if " + blanks + "err := ")},
		{Pos: statement.End(), End: statement.End(), NewText: []byte("; err != nil {\n" + tabs + "\treturn err\n" + tabs + "}")},
	}}}
}
