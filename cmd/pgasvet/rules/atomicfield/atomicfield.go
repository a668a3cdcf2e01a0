// Package atomicfield is a rule of pgasvet: plain loads and stores of words that PEs update atomically at the same
// time.
//
// All PEs run the same program. A PE that updates a word of others atomically, and accesses its own copy by a load or a
// store through Local or Ptr, or by a get or a put, with no barrier, collective or wait between, races with the others,
// which do the same. A loop that waits for a plain word races with the PE that sets it: polls.go has these.
package atomicfield

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/calls"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/epoch"
	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name: "atomicfield", URL: report.Page + "#atomicfield",
	Doc: `find plain accesses to words that other PEs update atomically meanwhile

It reports a load or a store through Local or Ptr of a field tagged atomic, a Signal or a Lock, or of a word that is used
as pgas.Atomic, or a get or a put of such a word, when the function also accesses it atomically on other PEs with no
synchronization between the two; a put of a word that the function waits for; and a loop that waits for a plain word.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	c := &checker{report.New(pass), calls.SyncsOf(functions, synchronizes), calls.PEsOf(functions), map[*ssa.Function]calls.Origins{}}
	for _, fn := range functions { // a function precedes those that are declared in it
		c.origins[fn] = calls.OriginsOf(fn, c.origins[fn.Parent()])
		epoch.Of(c.step).Visit(fn, c.look)
		c.polls(fn)
		c.putsOfFlags(fn)
	}
	return c.report.Used(), nil
}
