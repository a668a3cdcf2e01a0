// Package coherent is a rule of pgasvet: wrong uses of coherent memory (package dsm) that no mode tells of when the
// program runs, or only a job on several hosts does.
//
// It works on the SSA form of one package. calls.go says what calls of package dsm mean, origin.go follows memory from
// the call that returned it, and bulk.go, fences.go and atomics.go have one finding each.
package coherent

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

const doc = `find wrong uses of coherent memory

It reports copy, clear, functions of bytes and slices, and system calls on the Slice of a coherent array with no View,
Update or Overwrite of it since the last fence; the result of a View, an Update or an Overwrite that is used after a
fence; and sync/atomic on an element of an array.`

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "coherent", Doc: doc, URL: report.Page + "#coherent",
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

// run reports the findings of a package.
func run(pass *analysis.Pass) (any, error) {
	r := report.New(pass)
	if !imports(pass.Pkg, dsmPath) {
		return r.Used(), nil
	}
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	fencing := fencingFunctions(functions)
	known := map[*ssa.Function]origins{}
	for _, fn := range functions { // a function precedes those that are declared in it
		known[fn] = originsOf(fn, known[fn.Parent()])
		var found []analysis.Diagnostic
		found = append(found, bulkAccesses(fn, known[fn], fencing)...)
		found = append(found, usesAfterFences(fn, known[fn], fencing)...)
		found = append(found, atomicAccesses(fn, known[fn])...)
		for _, d := range found {
			r.Report(d)
		}
	}
	return r.Used(), nil
}

// imports reports whether p imports a package of that path, directly or through others: generated types are enough to
// use coherent memory.
func imports(p *types.Package, path string) bool {
	seen := map[*types.Package]bool{}
	var search func(p *types.Package) bool
	search = func(p *types.Package) bool {
		if seen[p] {
			return false
		}
		seen[p] = true
		return p.Path() == path || slices.ContainsFunc(p.Imports(), search)
	}
	return slices.ContainsFunc(p.Imports(), search)
}
