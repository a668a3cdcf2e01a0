package localread_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/localread"
)

func TestFindings(t *testing.T) { ruletest.Run(t, localread.Analyzer, "reads") }
