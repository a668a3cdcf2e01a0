package outsidebody_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/outsidebody"
)

func TestFindings(t *testing.T) { ruletest.Run(t, outsidebody.Analyzer, "kept", "inits") }
