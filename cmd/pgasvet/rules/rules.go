// Package rules lists the rules of pgasvet, each of which is a package below, and has the one about the comments that
// silence them.
package rules

import (
	"go/token"

	"golang.org/x/tools/go/analysis"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/afterfree"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/atomicfield"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/bodycontext"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/coherent"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/collective"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/droppederror"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/localread"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/nonblocking"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/outsidebody"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/signalcount"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/stackcopy"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unfenced"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unreleased"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unstarted"
)

// list is every rule but Comments.
var list = []*analysis.Analyzer{
	afterfree.Analyzer,
	atomicfield.Analyzer,
	bodycontext.Analyzer,
	coherent.Analyzer,
	collective.Analyzer,
	droppederror.Analyzer,
	localread.Analyzer,
	nonblocking.Analyzer,
	outsidebody.Analyzer,
	signalcount.Analyzer,
	stackcopy.Analyzer,
	unfenced.Analyzer,
	unreleased.Analyzer,
	unstarted.Analyzer,
}

// All returns every rule.
func All() []*analysis.Analyzer { return append(list[:len(list):len(list)], Comments) }

// Comments is the rule about comments: each gives a reason, and silences something.
var Comments = &analysis.Analyzer{
	Name: "pgasvetok", URL: report.Page + "#pgasvetok",
	Doc: `find comments //pgasvet:ok that give no reason, or silence no finding

A comment without a reason silences nothing. One that silences nothing any more hides what the next change of its line
breaks.`,
	Requires: list,
	Run:      comments,
}

func comments(pass *analysis.Pass) (any, error) {
	for _, c := range report.Comments(pass.Files) {
		switch {
		case report.Reason(c) == "":
			pass.Reportf(c.Pos(), "//pgasvet:ok without a reason silences nothing: say after it why the line is right")
		case !silences(pass, c.Pos()):
			pass.Reportf(c.Pos(), "//pgasvet:ok silences no finding: take it away")
		}
	}
	return nil, nil
}

// silences reports whether the comment at pos has silenced a finding of any rule.
func silences(pass *analysis.Pass, pos token.Pos) bool {
	for _, rule := range list {
		if used, ok := pass.ResultOf[rule].(report.Used); ok && used[pos] {
			return true
		}
	}
	return false
}
