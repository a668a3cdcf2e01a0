package model

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

// The searches that take minutes run on demand only; each protocol and each planted bug is searched always.
var long = flag.Bool("long", false, "run what takes minutes too")

func needsLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes minutes: `go test ./locks/... -timeout 1h -long` runs it")
	}
}

//ci:weekly
func TestLarger(t *testing.T) {
	needsLong(t)
	spin.Searches(t, []spin.Run{
		{Model: "rmarw", Defines: "N=2 P=2 PER1=1 R=1 ROUNDS=2 RROUNDS=2 GIVE_UP=0 TW=1"},
		{Model: "rmarw", Defines: "N=2 P=3 PER1=2 R=1 ROUNDS=1 GIVE_UP=0"},
		{Model: "rmarw", Defines: "N=1 P=1 R=2 C=2 ROUNDS=1 GIVE_UP=1 GIVE_UP_R=1"},
		{Model: "rmarw", Defines: "N=2 P=2 PER1=1 R=1 ROUNDS=1 GIVE_UP=1 TW=1"},
		{Model: "ncosed", Defines: "P=3 ROUNDS=2"},
		{Model: "ncosed", Defines: "P=4 W=1 R=3 ROUNDS=1 CHAINS=2"},
		{Model: "alock", Defines: "P=3 LOCALS=2 BL=2 BR=1 ROUNDS=2 SPLIT"},
		{Model: "alock", Defines: "P=3 LOCALS=1 ROUNDS=0 WHO=1", Claim: "starvation"},
		{Model: "alock", Defines: "P=3 LOCALS=1 ROUNDS=0 WHO=3", Claim: "starvation"},
		{Model: "alock", Defines: "P=3 LOCALS=1 ROUNDS=0", Claim: "livelock"},
		{Model: "alock", Defines: "P=3 LOCALS=1 ROUNDS=0 WHO=3 OFTEN", Claim: "often"},
		{Model: "alock", Defines: "P=3 LOCALS=1 BL=1 BR=2 ROUNDS=2 SPLIT"},
		{Model: "dqnl", Defines: "P=3 ROUNDS=2"},
		{Model: "alock", Defines: "P=3 LOCALS=2 GIVERS=6 ROUNDS=2"},
	})
}
