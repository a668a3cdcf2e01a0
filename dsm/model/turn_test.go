package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestTurn(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "turn", Defines: "N=3 B=1 ROUNDS=1"},
		{Model: "turn", Defines: "N=2 B=2 ROUNDS=2"},
		{Model: "turn", Defines: "N=2 B=2 ROUNDS=1", Claim: "through"},
		{Model: "turn", Defines: "N=3 B=1 ROUNDS=1", Claim: "through"},
	})
}

//ci:weekly
func TestTurnMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "turn", Defines: "WAITS_FOR_FIRST N=3 B=2 ROUNDS=1", Bad: true},
		{Model: "turn", Defines: "HOLDS_TURNS N=2 B=2 ROUNDS=1", Bad: true},
		{Model: "turn", Defines: "KEEPS_GRANT N=3 ROUNDS=3", Bad: true},
		{Model: "turn", Defines: "RESETS_LATE N=2", Bad: true},
		{Model: "turn", Defines: "NOT_ASKED N=2", Bad: true},
		{Model: "turn", Defines: "GIVES_BLINDLY N=2", Bad: true},
		{Model: "turn", Defines: "LOCKS_LATE", Bad: true},
		{Model: "turn", Defines: "ASKS_FIRST_HOME", Bad: true},
		{Model: "turn", Defines: "FORGETS_GRANTER N=2", Bad: true},
	})
}
