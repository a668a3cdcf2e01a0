package bodycontext_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/bodycontext"
)

func TestFindings(t *testing.T) { ruletest.Run(t, bodycontext.Analyzer, "bodies") }
