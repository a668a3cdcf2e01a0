// Package ruletest tests a rule on the programs of its testdata. They use this module's packages, so that they change
// with them. Each line that is to be reported has its message beside it; all other lines are to be silent. A golden
// file has what the suggested fixes make of a program: pgasvet -RULE -fix writes it.
package ruletest

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

const fromRule = "../../../.." // the root of the repository, from the package of a rule

// Run runs the rule on the programs, which are folders below testdata.
func Run(t *testing.T, rule *analysis.Analyzer, programs ...string) {
	t.Helper()
	if err := analysis.Validate([]*analysis.Analyzer{rule}); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(fromRule) // analysistest names the go.work in it, which must be absolute
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		pattern := "./cmd/pgasvet/rules/" + rule.Name + "/testdata/" + program
		golden, err := filepath.Glob(filepath.Join("testdata", program, "*.golden"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join("testdata", program)); err != nil {
			t.Fatal(err)
		}
		if len(golden) > 0 {
			analysistest.RunWithSuggestedFixes(t, root, rule, pattern)
		} else {
			analysistest.Run(t, root, rule, pattern)
		}
	}
}
