package stackcopy_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/stackcopy"
)

func TestFindings(t *testing.T) { ruletest.Run(t, stackcopy.Analyzer, "copies") }
