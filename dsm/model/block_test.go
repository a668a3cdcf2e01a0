package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestBlock(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "block", Defines: "FENCES=3"},
		{Model: "block", Defines: "FENCES=1 REMOTE=2"},
		{Model: "block", Defines: "NEAR FENCES=2"},
		{Model: "block", Defines: "VIEWS=1 FENCES=1"},
		{Model: "block", Defines: "ZAPS=1 SIGNALS=1 FENCES=1"},
		{Model: "block", Defines: "EVICTS=1 FENCES=2"},
		{Model: "block", Defines: "EVICTS=1 NEAR FENCES=1"},
		{Model: "block", Defines: "LOSES FENCES=2"},
	})
}

//ci:weekly
func TestBlockMutants(t *testing.T) {
	searches := []spin.Run{
		{Model: "block", Defines: "NO_GENERATION REMOTE=2 FENCES=3", Bad: true},
		{Model: "block", Defines: "BY_FLAG SIGNALS=1", Bad: true},
		{Model: "block", Defines: "POISONS_FIRST LOSES", Bad: true},
		{Model: "block", Defines: "EVICTS_DIRTY EVICTS=1", Bad: true},
		{Model: "block", Defines: "EVICTED_VALID EVICTS=1", Bad: true},
		{Model: "block", Defines: "EVICTED_ZEROS EVICTS=1", Bad: true},
		{Model: "block", Defines: "EVICTS_UNLOCKED EVICTS=1", Bad: true},
		{Model: "block", Defines: "TAKES_EVICTED EVICTS=1", Bad: true},
	}
	for _, bug := range []string{
		"LETS_GO_FIRST", "TWIN_LATE", "NO_MISSING", "MAPS_UNLOCKED", "DROPS_SHORT", "COUNTS_LATE", "CLEANS_WRITABLE",
		"NOT_HELD_BACK", "CLEARS_LATE", "LOSES_OWN", "FORGETS_DIRTY", "ZEROS_LATE",
	} {
		searches = append(searches, spin.Run{Model: "block", Defines: bug, Bad: true})
	}
	spin.Searches(t, searches)
}
