package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestPoolEnd(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "pool"},
		{Model: "pool", Defines: "ARITY=1"},
		{Model: "pool", Defines: "P=2 BUDGET=5"},
	})
}

//ci:weekly
func TestPoolEndMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "pool", Defines: "SLEEPS", Bad: true},
		{Model: "pool", Defines: "FORGETS_TASKS", Bad: true},
		{Model: "pool", Defines: "ONE_WAVE", Bad: true},
		{Model: "pool", Defines: "FORGETS_CHILDREN", Bad: true},
	})
}

//ci:weekly
func TestDeque(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "deque"},
		{Model: "deque", Defines: "N=4 TASKS=6 STEALS=1"},
	})
}

//ci:weekly
func TestDequeMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "deque", Defines: "NEVER_WAITS", Bad: true},
		{Model: "deque", Defines: "HEAD_FIRST N=4", Bad: true},
		{Model: "deque", Defines: "TAKES_BLINDLY N=4", Bad: true},
	})
}
