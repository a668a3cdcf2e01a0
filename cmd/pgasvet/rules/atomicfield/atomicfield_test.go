package atomicfield_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/atomicfield"
)

func TestFindings(t *testing.T) { ruletest.Run(t, atomicfield.Analyzer, "words") }
