// Package model has Promela models of what package dsm and its pager do to one block, and lets spin check them
// (pgas/pgastest/spin): turns at changing the block, its versions, and the copy that page faults keep.
//
//ci:norace computes
package model

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

// The searches that take minutes run on demand only; each model and each planted bug is searched always.
var long = flag.Bool("long", false, "run what takes minutes too")

//ci:weekly
func TestLarger(t *testing.T) {
	if !*long {
		t.Skip("takes minutes: `go test ./dsm/model -timeout 1h -long` runs it")
	}
	spin.Searches(t, []spin.Run{
		{Model: "turn", Defines: "N=3 B=2 ROUNDS=1"},
		{Model: "turn", Defines: "N=3 B=1 ROUNDS=2"},
		{Model: "turn", Defines: "N=2 B=2 ROUNDS=2", Claim: "through"},
		{Model: "turn", Defines: "N=4 B=1 ROUNDS=1"},
		{Model: "turn", Defines: "N=3 B=1 ROUNDS=2", Claim: "through"},
		{Model: "version", Defines: "N=2 S0=5 S1=4 NOTICES=0 OTHERS=3"},
		{Model: "version", Defines: "N=3 S0=2 S1=2 S2=2 OTHERS=3"},
		{Model: "version", Defines: "N=3 S0=3 S1=3 S2=2"},
		{Model: "version", Defines: "N=2 S0=4 S1=4 OTHERS=3", Claim: "through"},
		{Model: "block", Defines: "FENCES=3 REMOTE=2 STORES=3"},
		{Model: "block", Defines: "NEAR FENCES=3"},
		{Model: "block", Defines: "FENCES=2 REMOTE=2"},
		{Model: "block", Defines: "VIEWS=2 FENCES=2 REMOTE=2"},
		{Model: "block", Defines: "VIEWS=1 ZAPS=1 SIGNALS=1 FENCES=2"},
		{Model: "block", Defines: "ZAPS=1 SIGNALS=2 FENCES=3"},
		{Model: "block", Defines: "EVICTS=2 FENCES=2"},
		{Model: "block", Defines: "EVICTS=1 VIEWS=1 FENCES=1 STORES=1"},
	})
}
