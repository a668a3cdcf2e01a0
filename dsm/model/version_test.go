package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestVersion(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "version", Defines: "N=2 S0=4 S1=4"},
		{Model: "version", Defines: "N=2 S0=4 S1=4 NOTICES=0"},
		{Model: "version", Defines: "N=2 S0=3 S1=3 OTHERS=3"},
		{Model: "version", Defines: "N=3 S0=2 S1=2 S2=2"},
		{Model: "version", Defines: "N=3 S0=2 S1=2 S2=2 NOTICES=0"},
		{Model: "version", Defines: "N=3 S0=2 S1=2 S2=1", Claim: "through"},
	})
}

//ci:weekly
func TestVersionMutants(t *testing.T) {
	searches := []spin.Run{
		{Model: "version", Defines: "GIVES_FIRST NOTICES=0 N=3 S0=2 S1=2 S2=2", Bad: true},
		{Model: "version", Defines: "KEEPS N=3 S0=2 S1=2 S2=2", Bad: true},
		{Model: "version", Defines: "LEASES_CLOSED OTHERS=3", Bad: true},
		{Model: "version", Defines: "NOT_CLOSED OTHERS=3", Bad: true},
	}
	for _, bug := range []string{"NO_TWIN", "LOSES_OWN", "MERGES_ALL", "IGNORES_LEASES", "NOT_DROPPED", "NO_NOTICE", "DROPS_DIRTY"} {
		searches = append(searches, spin.Run{Model: "version", Defines: bug + " S0=4 S1=4", Bad: true})
	}
	// Notices hide these.
	for _, bug := range []string{"TRUSTS_LEASES", "GETS_FIRST", "STAYS", "NOT_TOLD", "FORGETS", "IGNORES_MIN", "RENEWS_MOVED"} {
		searches = append(searches, spin.Run{Model: "version", Defines: bug + " NOTICES=0 S0=4 S1=4", Bad: true})
	}
	spin.Searches(t, searches)
}
