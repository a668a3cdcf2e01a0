package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestSpin(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "fompi", Defines: "W=3 R=0 ROUNDS=2 GIVE_UP=1"},
		{Model: "fompi", Defines: "W=3 R=0 ROUNDS=2 GIVE_UP=1", Claim: "through"},
		{Model: "fompi", Defines: "NOT_ATOMIC W=2 R=0", Bad: true},
	})
}

//ci:weekly
func TestSpinRW(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "fompi", Defines: "W=2 R=2 ROUNDS=2 GIVE_UP=3"},
		{Model: "fompi", Defines: "W=2 R=2 ROUNDS=2 GIVE_UP=3", Claim: "through"},
		{Model: "fompi", Defines: "LOOKS_ONCE W=1 R=1", Bad: true},
		{Model: "fompi", Defines: "KEEPS_COUNT W=1 R=1", Claim: "through", Bad: true},
		{Model: "fompi", Defines: "CLEARS W=1 R=1", Bad: true},
	})
}
