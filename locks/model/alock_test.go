package model

import "testing"

func TestALock(t *testing.T) {
	searches(t, []run{
		{model: "alock", defines: "P=3 LOCALS=1 BL=1 BR=2 ROUNDS=2 SPLIT"},
		{model: "alock", defines: "P=3 LOCALS=2 BL=2 BR=1 ROUNDS=2 SPLIT"},
		{model: "alock", defines: "P=3 LOCALS=1 GIVERS=14 ROUNDS=1 SPLIT"},
		{model: "alock", defines: "P=3 LOCALS=1 ROUNDS=0 WHO=1", claim: "starvation"},
		{model: "alock", defines: "P=3 LOCALS=1 ROUNDS=0 WHO=3", claim: "starvation"},
		{model: "alock", defines: "P=3 LOCALS=2 ROUNDS=0 WHO=2 BR=1", claim: "starvation"},
		{model: "alock", defines: "P=3 LOCALS=1 ROUNDS=0", claim: "livelock"},
		{model: "alock", defines: "P=3 LOCALS=1 ROUNDS=0 WHO=3 OFTEN", claim: "often"},
	})
}

func TestALockMutants(t *testing.T) {
	searches(t, []run{
		{model: "alock", defines: "WAITS_FOR_BOTH P=2 ROUNDS=0", claim: "livelock", bad: true},
		{model: "alock", defines: "NEVER_YIELDS", bad: true},
		{model: "alock", defines: "LOOKS_FIRST", bad: true},
		{model: "alock", defines: "VICTIM_FIRST", bad: true},
		{model: "alock", defines: "SPENDS_0", bad: true},
		{model: "alock", defines: "LEAVES_QUIETLY GIVERS=4 LOCALS=1", bad: true},
		{model: "alock", defines: "BEGINS_ANEW P=3 LOCALS=2 BR=1 GIVERS=2", bad: true},
		{model: "alock", defines: "YIELDS_AGAIN P=3 LOCALS=2 BR=1 GIVERS=2", bad: true},
		{model: "alock", defines: "ONE_QUEUE SPLIT", bad: true},
	})
}
