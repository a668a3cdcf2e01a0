package nonblocking_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/nonblocking"
)

func TestFindings(t *testing.T) { ruletest.Run(t, nonblocking.Analyzer, "buffers") }
