package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

func TestTerms(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "terms", Defines: "FAILURES=0"},
	})
}

//ci:weekly
func TestTermsFailures(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "terms", Defines: "FAILURES=1 SPARES=0"},
		{Model: "terms", Defines: "FAILURES=1"},
	})
}

//ci:weekly
func TestTermsMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "terms", Defines: "FORKS_EARLY FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "EAGER FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "OLD_FRAME FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "TWO_TERMS FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "NO_SWEEP FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "AFTER_EXIT FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "NO_TIMER FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "DONE_WAITS FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "SAME_NAME FAILURES=1 SPARES=0", Bad: true},
		{Model: "terms", Defines: "ALONE FAILURES=1 SPARES=0", Bad: true},
	})
}
