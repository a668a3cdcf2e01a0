package collective_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/collective"
)

func TestFindings(t *testing.T) { ruletest.Run(t, collective.Analyzer, "branches") }
