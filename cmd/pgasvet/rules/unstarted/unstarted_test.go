package unstarted_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/unstarted"
)

func TestFindings(t *testing.T) { ruletest.Run(t, unstarted.Analyzer, "requests") }
