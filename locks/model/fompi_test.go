package model

import "testing"

func TestSpin(t *testing.T) {
	searches(t, []run{
		{model: "fompi", defines: "W=3 R=0 ROUNDS=2 GIVE_UP=1"},
		{model: "fompi", defines: "W=3 R=0 ROUNDS=2 GIVE_UP=1", claim: "through"},
		{model: "fompi", defines: "NOT_ATOMIC W=2 R=0", bad: true},
	})
}

func TestSpinRW(t *testing.T) {
	searches(t, []run{
		{model: "fompi", defines: "W=2 R=2 ROUNDS=2 GIVE_UP=3"},
		{model: "fompi", defines: "W=2 R=2 ROUNDS=2 GIVE_UP=3", claim: "through"},
		{model: "fompi", defines: "LOOKS_ONCE W=1 R=1", bad: true},
		{model: "fompi", defines: "KEEPS_COUNT W=1 R=1", claim: "through", bad: true},
		{model: "fompi", defines: "CLEARS W=1 R=1", bad: true},
	})
}
