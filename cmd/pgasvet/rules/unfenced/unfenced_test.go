package unfenced_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unfenced"
)

func TestFindings(t *testing.T) { ruletest.Run(t, unfenced.Analyzer, "flags") }
