package afterfree_test

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/ruletest"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules/afterfree"
)

func TestFindings(t *testing.T) { ruletest.Run(t, afterfree.Analyzer, "freed") }
