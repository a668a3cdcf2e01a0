package droppederror_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/droppederror"
)

func TestFindings(t *testing.T) { ruletest.Run(t, droppederror.Analyzer, "dropped") }
