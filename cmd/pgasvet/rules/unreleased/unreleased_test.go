package unreleased_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unreleased"
)

func TestFindings(t *testing.T) { ruletest.Run(t, unreleased.Analyzer, "held") }
