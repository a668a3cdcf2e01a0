// Package nonblocking is a rule of pgasvet: sources of non-blocking puts that are changed before they were read, and
// destinations of non-blocking gets that are used before they are filled. It has these files:
//
//	nonblocking.go  the rule
//	pending.go      what is pending at each point of a function
//	issued.go       the calls that leave a buffer pending, and those that complete it
//	touched.go      the memory that calls of other packages read or write
//
// A large source for another host is sent without a copy: what is stored to it before the put is complete locally may
// be sent in place of what was there. On one host the source has always been read on return, so no run there shows it.
package nonblocking

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
	Name: "nonblocking", URL: report.Page + "#nonblocking",
	Doc: `find buffers of non-blocking calls that are touched too early

It reports a change of the source of a PutNB before a Wait or Done of its LocalCompletion, a Quiet or a QuietLocal; any
use of the destination of a GetNB or a fetching NB before a Quiet, by another call, too; and a use of the memory of a
non-blocking collective before a Wait of its Request.`,
	Requires: []*analysis.Analyzer{buildssa.Analyzer}, Run: run, ResultType: report.ResultType,
}

func run(pass *analysis.Pass) (any, error) {
	functions := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs
	k := &checker{pass, report.New(pass), calls.SyncsOf(functions, completes), calls.PEsOf(functions), map[*ssa.Function]*effects{}}
	for _, fn := range functions {
		epoch.Of(k.step).Visit(fn, k.check)
	}
	return k.report.Used(), nil
}

// check reports i if it touches a buffer that is pending.
func (k *checker) check(s state, i ssa.Instruction) {
	if len(s.Facts()) == 0 {
		return
	}
	for _, t := range k.touched(i) {
		for _, p := range s.Facts() {
			if !t.writes && !p.get || !p.memory.Touches(t.memory, i) || k.pes.Exclude(p.at, i.Block()) {
				continue
			}
			if pos := flow.PositionOf(i, p.by.Instr.Pos()); !tree.ExpectsPanic(k.pass, pos) {
				k.report.Report(analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(p.text(), p.by, k.pass.Fset.Position(p.by.Instr.Pos()).Line)})
			}
		}
	}
}
