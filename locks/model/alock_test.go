package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestALock(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "alock", Defines: "P=3 LOCALS=1 BL=1 BR=2 ROUNDS=1 SPLIT"},
		{Model: "alock", Defines: "P=3 LOCALS=1 GIVERS=14 ROUNDS=1 SPLIT"},
		{Model: "alock", Defines: "P=3 LOCALS=2 ROUNDS=0 WHO=2 BR=1", Claim: "starvation"},
		{Model: "alock", Defines: "P=2 LOCALS=1 ROUNDS=0", Claim: "livelock"},
		{Model: "alock", Defines: "P=2 LOCALS=1 ROUNDS=0 WHO=2 OFTEN", Claim: "often"},
	})
}

//ci:weekly
func TestALockMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "alock", Defines: "WAITS_FOR_BOTH P=2 ROUNDS=0", Claim: "livelock", Bad: true},
		{Model: "alock", Defines: "NEVER_YIELDS", Bad: true},
		{Model: "alock", Defines: "LOOKS_FIRST", Bad: true},
		{Model: "alock", Defines: "VICTIM_FIRST", Bad: true},
		{Model: "alock", Defines: "SPENDS_0", Bad: true},
		{Model: "alock", Defines: "LEAVES_QUIETLY GIVERS=4 LOCALS=1", Bad: true},
		{Model: "alock", Defines: "BEGINS_ANEW P=3 LOCALS=2 BR=1 GIVERS=2", Bad: true},
		{Model: "alock", Defines: "YIELDS_AGAIN P=3 LOCALS=2 BR=1 GIVERS=2", Bad: true},
		{Model: "alock", Defines: "ONE_QUEUE SPLIT", Bad: true},
	})
}
