package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestMapSplit(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "map"},
		{Model: "map", Defines: "WRITERS=1 UPDATES=2 FINDERS=2 FINDS=1"},
	})
}

//ci:weekly
func TestMapSplitMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "map", Defines: "NO_LOCK", Bad: true},
		{Model: "map", Defines: "NO_LOCK_TO", Bad: true},
		{Model: "map", Defines: "UNLOCKS_EARLY", Bad: true},
		{Model: "map", Defines: "REMOVES_FIRST", Bad: true},
		{Model: "map", Defines: "HEADER_FIRST", Bad: true},
		{Model: "map", Defines: "BELIEVES_TORN", Bad: true},
		{Model: "map", Defines: "BELIEVES_EARLY", Bad: true},
		{Model: "map", Defines: "NO_SECOND_LOOK", Bad: true},
	})
}
