package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

// What the models of the queue, the tree and the counter say of planted bugs is in their first comments.

//ci:weekly
func TestDMCS(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "dmcs", Defines: "P=2 ROUNDS=3 GIVE_UP=1"},
		{Model: "dmcs", Defines: "P=3 ROUNDS=1 GIVE_UP=2"},
		{Model: "dmcs", Defines: "P=3 ROUNDS=2 GIVE_UP=0"},
		{Model: "dmcs", Defines: "P=2 ROUNDS=2 GIVE_UP=1", Claim: "live"},
		{Model: "dmcs", Defines: "P=3 ROUNDS=1 GIVE_UP=2", Claim: "live"},
		{Model: "dmcs", Defines: "P=3 ROUNDS=2 GIVE_UP=1 LOST_WAKEUP", Bad: true},
		{Model: "dmcs", Defines: "P=3 ROUNDS=2 GIVE_UP=1 TELL_BLINDLY", Bad: true},
		{Model: "dmcs", Defines: "P=2 ROUNDS=3 GIVE_UP=1 NO_RECHECK", Bad: true},
		{Model: "dmcs", Defines: "P=2 ROUNDS=3 GIVE_UP=1 CLEAR_NEXT_LATE", Bad: true},
		{Model: "dmcs", Defines: "P=2 ROUNDS=3 GIVE_UP=1 REVERSED_CAS", Bad: true},
		{Model: "dmcs", Defines: "P=3 ROUNDS=2 GIVE_UP=1 FREE_EARLY", Bad: true},
		{Model: "dmcs", Defines: "P=2 ROUNDS=3 GIVE_UP=1 SPENT_LATE", Bad: true},
	})
}

//ci:weekly
func TestRMAMCS(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "rmamcs", Defines: "N=1 P=3 ROUNDS=1 GIVE_UP=2"},
		{Model: "rmamcs", Defines: "N=2 P=3 PER1=2 ROUNDS=1 GIVE_UP=1"},
		{Model: "rmamcs", Defines: "N=2 P=2 PER1=1 ROUNDS=2 GIVE_UP=1"},
		{Model: "rmamcs", Defines: "N=2 P=2 PER1=2 ROUNDS=3 GIVE_UP=1 TL=1"},
		{Model: "rmamcs", Defines: "N=3 P=3 PER1=3 PER2=2 ROUNDS=1 GIVE_UP=0"},
		{Model: "rmamcs", Defines: "N=2 P=2 PER1=2 ROUNDS=2 GIVE_UP=1", Claim: "live"},
		{Model: "rmamcs", Defines: "N=2 P=2 PER1=1 ROUNDS=1 GIVE_UP=1", Claim: "live"},
		{Model: "rmamcs", Defines: "N=2 P=3 PER1=2 ROUNDS=2 GIVE_UP=0 OWN_NODE_ABOVE", Bad: true},
		{Model: "rmamcs", Defines: "N=2 P=3 PER1=2 ROUNDS=2 GIVE_UP=0 TL=1 NO_THRESHOLD", Bad: true},
	})
}

//ci:weekly
func TestRMARW(t *testing.T) {
	const oneWriter = "N=1 P=1 R=2 GIVE_UP=0 ROUNDS=2 RROUNDS=2 TR=1 TW=1"
	spin.Searches(t, []spin.Run{
		{Model: "rmarw", Defines: "N=1 P=1 R=1 ROUNDS=2 RROUNDS=2 GIVE_UP=0"},
		{Model: "rmarw", Defines: "N=1 P=1 R=2 C=1 ROUNDS=1 GIVE_UP=1 GIVE_UP_R=1"},
		{Model: "rmarw", Defines: "N=2 P=2 PER1=1 R=1 ROUNDS=1 GIVE_UP=0 TW=1"},
		{Model: "rmarw", Defines: "N=3 P=2 PER1=2 PER2=1 R=1 ROUNDS=1 GIVE_UP=0"},
		{Model: "rmarw", Defines: "N=1 P=1 R=1 ROUNDS=2 RROUNDS=2 GIVE_UP=0", Claim: "live"},
		{Model: "rmarw", Defines: "N=1 P=1 R=2 ROUNDS=2 RROUNDS=1 GIVE_UP=0 TR=2 TICKETS=3"},
		{Model: "rmarw", Defines: oneWriter + " NO_CHECK", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " LOST_BIT", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " ADMIT_FIRST", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " NO_ADMIT", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " HAND_OVER_BLIND", Bad: true},
		{Model: "rmarw", Defines: "N=1 P=1 R=2 GIVE_UP=1 CANCELS_QUIETLY", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " ONE_MORE", Bad: true},
		{Model: "rmarw", Defines: "N=1 P=1 R=1 RROUNDS=3 GIVE_UP=0 COUNTS_ALWAYS", Bad: true},
		{Model: "rmarw", Defines: oneWriter + " TICKET_BLIND", Bad: true},
		{Model: "rmarw", Defines: "N=2 P=2 PER1=2 R=1 GIVE_UP=0 ROUNDS=2 TW=1 TW_AT_ROOT_ONLY", Bad: true},
		{Model: "rmarw", Defines: "N=2 P=3 PER1=2 R=1 GIVE_UP=0 ROUNDS=2 TW=3 OWN_NODE_ABOVE", Bad: true},
	})
}
