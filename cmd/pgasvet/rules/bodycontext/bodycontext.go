// Package bodycontext is a rule of pgasvet: waits in the body of a job with a context that never ends.
//
// The context that a body gets ends when the job is to end: by a signal, a time limit of the launcher, or the loss of
// another PE. A wait with context.Background() goes on, and the launcher has to kill the process.
package bodycontext

import (
	"fmt"
	"go/ast"
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
	Name: "bodycontext", URL: report.Page + "#bodycontext",
	Doc: `find waits in a body whose context does not end with the job

It reports context.Background() and context.TODO(), and what WithTimeout and the like make of them, as the context of a
call of gopgas in a function that has the context and the World of a body, as parameters or around it.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	for _, fn := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		body := bodyOf(fn)
		if body == nil {
			continue
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if _, deferred := i.(*ssa.Defer); !deferred {
					check(pass, r, body, i)
				}
			}
		}
	}
	return r.Used(), nil
}

// bodyOf returns the function, fn or one around it, that is given the context and the World of a body.
func bodyOf(fn *ssa.Function) *ssa.Function {
	for ; fn != nil; fn = fn.Parent() {
		if isDeferred(fn) {
			return nil // it may clean up after the context has ended
		}
		params := fn.Signature.Params()
		if params.Len() >= 2 && calls.IsContext(params.At(0).Type()) && calls.IsType(params.At(1).Type(), "World") {
			return fn
		}
	}
	return nil
}

// isDeferred reports whether fn is a function literal that is only deferred.
func isDeferred(fn *ssa.Function) bool {
	if fn.Parent() == nil {
		return false
	}
	for _, b := range fn.Parent().Blocks {
		for _, i := range b.Instrs {
			if d, ok := i.(*ssa.Defer); ok && d.Call.StaticCallee() == fn {
				return true
			}
		}
	}
	return false
}

// check reports the context of a call of gopgas if it never ends, or by a time limit only.
func check(pass *analysis.Pass, r *report.Reporter, body *ssa.Function, i ssa.Instruction) {
	c, ok := calls.Of(i)
	if !ok || c.Context() == nil {
		return
	}
	root := rootOf(c.Context())
	if root == nil {
		return
	}
	name := calls.Static(&root.Call).Name()
	d := analysis.Diagnostic{Pos: i.Pos(), Message: fmt.Sprintf(
		"%s waits with context.%s(), which does not end with the job: use the context that the body is given", c, name)}
	if ctx := body.Signature.Params().At(0).Name(); root.Parent() == i.Parent() && ctx != "" && ctx != "_" {
		d.SuggestedFixes = fix(pass, root, ctx)
	}
	r.Report(d)
}

// rootOf returns the call of context.Background or context.TODO that ctx is made from, or nil.
func rootOf(ctx ssa.Value) *ssa.Call {
	for {
		switch v := ctx.(type) {
		case *ssa.Extract:
			ctx = v.Tuple
			continue
		case *ssa.Call:
			fn := calls.Static(&v.Call)
			if fn == nil {
				return nil
			}
			switch fn.FullName() {
			case "context.Background", "context.TODO":
				return v
			case "context.WithTimeout", "context.WithDeadline", "context.WithCancel", "context.WithValue",
				"context.WithCancelCause", "context.WithTimeoutCause", "context.WithDeadlineCause":
				ctx = v.Call.Args[0]
				continue
			}
		}
		return nil
	}
}

// fix puts the body's context in place of root, if that name means it there.
func fix(pass *analysis.Pass, root *ssa.Call, ctx string) []analysis.SuggestedFix {
	call := tree.Call(pass, root.Pos())
	if call == nil || !isVisible(pass, call, ctx) {
		return nil
	}
	return []analysis.SuggestedFix{{Message: "use " + ctx, TextEdits: []analysis.TextEdit{
		{Pos: call.Pos(), End: call.End(), NewText: []byte(ctx)},
	}}}
}

// isVisible reports whether a name means a context at a call.
func isVisible(pass *analysis.Pass, call *ast.CallExpr, name string) bool {
	scope := pass.Pkg.Scope().Innermost(call.Pos())
	if scope == nil {
		return false
	}
	_, o := scope.LookupParent(name, call.Pos())
	v, ok := o.(*types.Var)
	return ok && calls.IsContext(v.Type())
}
