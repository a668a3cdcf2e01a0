// Package unreleased is a rule of pgasvet: a lock that a function releases on one path and keeps on another.
//
// A lock of symmetric memory stays taken when its holder returns. All other PEs that want it wait, and no report names
// the line. A function that takes a lock and never releases it may hand it to its caller, and so may one that releases
// it on errors only. An error mostly ends the body, and the job with it, so a path that returns one needs no release,
// unless another one releases just before its error. What is reported is a path that forgets what its like does.
package unreleased

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "unreleased", URL: report.Page + "#unreleased",
	Doc: `find locks that are not released on some path

It reports a pgas.LockRef, a lock of package locks, or a Mutex or RWMutex of package dsm that a function still holds at
one return, and has released at another; that a turn of a loop keeps by continue, break or goto; and that is taken again
while it is held.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	unlocking := map[*ssa.Function]bool{}
	for _, fn := range functions {
		unlocking[fn] = len(releases(fn)) > 0
	}
	for _, fn := range functions {
		check(pass, r, fn, elsewhere(fn), unlocking)
		checkPaths(pass, r.Report, fn, deferred(fn), inLiterals(fn), unlocking)
	}
	return r.Used(), nil
}
