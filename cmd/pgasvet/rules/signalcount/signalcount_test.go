package signalcount_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/signalcount"
)

func TestFindings(t *testing.T) { ruletest.Run(t, signalcount.Analyzer, "counts") }
