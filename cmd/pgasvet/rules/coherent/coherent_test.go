package coherent_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/coherent"
)

func TestFindings(t *testing.T) { ruletest.Run(t, coherent.Analyzer, "fences", "bulk", "atomics") }
