package coherent_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules/coherent"
)

// The programs of testdata use this module's packages, so that they change with them. Each line that is to be reported
// has its message beside it; all other lines are to be silent.
func TestFindings(t *testing.T) {
	const programs = "./cmd/pgasvet/rules/coherent/testdata/"
	analysistest.Run(t, "../../../..", coherent.Analyzer, programs+"fences", programs+"bulk", programs+"atomics")
}

func TestValid(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{coherent.Analyzer}); err != nil {
		t.Error(err)
	}
}
