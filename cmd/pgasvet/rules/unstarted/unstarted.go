// Package unstarted is a rule of pgasvet: waits for requests for notifications that are not started.
//
// A notify.Request takes notifications only from a Start until it is complete. A Wait before the first Start panics,
// and one after another Wait returns at once, with what the first one has returned: nothing new has come. The rule
// knows requests that a function makes and keeps to itself.
package unstarted

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/tree"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "unstarted", URL: report.Page + "#unstarted",
	Doc: `find waits for notifications whose request is not started

It reports a Wait or a Test of a notify.Request that the function has made and not started, a second Wait with
no Start between, and a second Start with nothing between.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	for _, fn := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if c, ok := calls.Of(i); ok && c.Is("notify", "New", "NewIn") {
					check(pass, r, i.(ssa.CallInstruction).Value())
				}
			}
		}
	}
	return r.Used(), nil
}

// check follows a request from where it is made.
func check(pass *analysis.Pass, r *report.Reporter, request *ssa.Call) {
	uses, ok := usesOf(request)
	if !ok {
		return
	}
	say := func(at ssa.CallInstruction, from *ssa.Call, text string) {
		if !tree.ExpectsPanic(pass, at.Pos()) {
			r.Report(analysis.Diagnostic{Pos: at.Pos(), Message: fmt.Sprintf(text, uses[at], pass.Fset.Position(from.Pos()).Line)})
		}
	}
	begun := false
	for from, c := range uses {
		call, ok := from.(*ssa.Call)
		if !ok {
			continue
		}
		begun = begun || c.Name == "Start"
		behind := next(call, request, uses)
		starts := slices.ContainsFunc(behind, func(at ssa.CallInstruction) bool { return uses[at].Name == "Start" })
		for _, at := range behind {
			switch {
			case c.Name == "Wait" && uses[at].Name == "Wait" && !starts:
				say(at, call, "%s of a request that is complete since the wait of line %d: it returns at once; call Start before")
			case c.Name == "Start" && uses[at].Name == "Start" && len(behind) == 1:
				say(at, call, "%s of a request that is active since line %d: wait for it before")
			}
		}
	}
	for _, at := range next(request, request, uses) {
		if isWait(uses[at]) && !begun {
			say(at, request, "%s of the request of line %d, which is not started: call Start before")
		}
	}
}

func isWait(c calls.Call) bool {
	return strings.HasPrefix(c.Name, "Wait") || strings.HasPrefix(c.Name, "Test")
}

// usesOf returns the calls of the methods of a request. ok reports whether they are all that happens to it.
func usesOf(request *ssa.Call) (uses map[ssa.CallInstruction]calls.Call, ok bool) {
	uses = map[ssa.CallInstruction]calls.Call{}
	for _, use := range *request.Referrers() {
		if _, debug := use.(*ssa.DebugRef); debug {
			continue
		}
		if c, ok := waitOfMany(use); ok {
			uses[c.Instr] = c
			continue
		}
		c, is := calls.Of(use)
		if !is || c.Package != "notify" || c.Recv != request {
			return nil, false
		}
		if _, deferred := use.(*ssa.Defer); !deferred {
			uses[c.Instr] = c
		}
	}
	return uses, true
}

// waitOfMany returns the wait for several requests that a request is stored for by use, if it is.
func waitOfMany(use ssa.Instruction) (c calls.Call, ok bool) {
	store, ok := use.(*ssa.Store)
	if !ok {
		return c, false
	}
	at, ok := store.Addr.(*ssa.IndexAddr)
	if !ok || at.X.Referrers() == nil {
		return c, false
	}
	for _, r := range *at.X.Referrers() {
		arguments, ok := r.(*ssa.Slice)
		if !ok || len(*arguments.Referrers()) != 1 {
			continue
		}
		if c, ok := calls.Of((*arguments.Referrers())[0]); ok && c.Package == "notify" && c.Recv == nil {
			return c, true
		}
	}
	return c, false
}

// next returns the uses of a request that paths come to first behind from, where that has not failed. Status changes
// nothing, and so is passed over.
func next(from, request *ssa.Call, uses map[ssa.CallInstruction]calls.Call) (list []ssa.CallInstruction) {
	flow.Paths(from, func(i ssa.Instruction) bool {
		call, ok := i.(ssa.CallInstruction)
		c, used := uses[call]
		if !ok || !used || c.Name == "Status" {
			return i == ssa.Instruction(request) // another one is made
		}
		list = append(list, call)
		return true
	})
	return list
}
