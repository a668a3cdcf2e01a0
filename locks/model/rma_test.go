package model

import "testing"

// What the models of the queue, the tree and the counter say of planted bugs is in their first comments.

func TestDMCS(t *testing.T) {
	searches(t, []run{
		{model: "dmcs", defines: "P=2 ROUNDS=3 GIVE_UP=1"},
		{model: "dmcs", defines: "P=3 ROUNDS=1 GIVE_UP=2"},
		{model: "dmcs", defines: "P=3 ROUNDS=2 GIVE_UP=0"},
		{model: "dmcs", defines: "P=2 ROUNDS=2 GIVE_UP=1", claim: "live"},
		{model: "dmcs", defines: "P=3 ROUNDS=1 GIVE_UP=2", claim: "live"},
		{model: "dmcs", defines: "P=3 ROUNDS=2 GIVE_UP=1 LOST_WAKEUP", bad: true},
		{model: "dmcs", defines: "P=3 ROUNDS=2 GIVE_UP=1 TELL_BLINDLY", bad: true},
		{model: "dmcs", defines: "P=2 ROUNDS=3 GIVE_UP=1 NO_RECHECK", bad: true},
		{model: "dmcs", defines: "P=2 ROUNDS=3 GIVE_UP=1 CLEAR_NEXT_LATE", bad: true},
		{model: "dmcs", defines: "P=2 ROUNDS=3 GIVE_UP=1 REVERSED_CAS", bad: true},
		{model: "dmcs", defines: "P=3 ROUNDS=2 GIVE_UP=1 FREE_EARLY", bad: true},
		{model: "dmcs", defines: "P=2 ROUNDS=3 GIVE_UP=1 SPENT_LATE", bad: true},
	})
}

func TestRMAMCS(t *testing.T) {
	searches(t, []run{
		{model: "rmamcs", defines: "N=1 P=3 ROUNDS=1 GIVE_UP=2"},
		{model: "rmamcs", defines: "N=2 P=3 PER1=2 ROUNDS=1 GIVE_UP=1"},
		{model: "rmamcs", defines: "N=2 P=2 PER1=1 ROUNDS=2 GIVE_UP=1"},
		{model: "rmamcs", defines: "N=2 P=2 PER1=2 ROUNDS=3 GIVE_UP=1 TL=1"},
		{model: "rmamcs", defines: "N=3 P=3 PER1=3 PER2=2 ROUNDS=1 GIVE_UP=0"},
		{model: "rmamcs", defines: "N=2 P=2 PER1=2 ROUNDS=2 GIVE_UP=1", claim: "live"},
		{model: "rmamcs", defines: "N=2 P=2 PER1=1 ROUNDS=1 GIVE_UP=1", claim: "live"},
		{model: "rmamcs", defines: "N=2 P=3 PER1=2 ROUNDS=2 GIVE_UP=0 OWN_NODE_ABOVE", bad: true},
		{model: "rmamcs", defines: "N=2 P=3 PER1=2 ROUNDS=2 GIVE_UP=0 TL=1 NO_THRESHOLD", bad: true},
	})
}

func TestRMARW(t *testing.T) {
	const oneWriter = "N=1 P=1 R=2 GIVE_UP=0 ROUNDS=2 RROUNDS=2 TR=1 TW=1"
	searches(t, []run{
		{model: "rmarw", defines: "N=1 P=1 R=1 ROUNDS=2 RROUNDS=2 GIVE_UP=0"},
		{model: "rmarw", defines: "N=1 P=1 R=2 C=1 ROUNDS=1 GIVE_UP=1 GIVE_UP_R=1"},
		{model: "rmarw", defines: "N=2 P=2 PER1=1 R=1 ROUNDS=1 GIVE_UP=0 TW=1"},
		{model: "rmarw", defines: "N=3 P=2 PER1=2 PER2=1 R=1 ROUNDS=1 GIVE_UP=0"},
		{model: "rmarw", defines: "N=1 P=1 R=1 ROUNDS=2 RROUNDS=2 GIVE_UP=0", claim: "live"},
		{model: "rmarw", defines: "N=1 P=1 R=2 ROUNDS=2 RROUNDS=1 GIVE_UP=0 TR=2 TICKETS=3"},
		{model: "rmarw", defines: oneWriter + " NO_CHECK", bad: true},
		{model: "rmarw", defines: oneWriter + " LOST_BIT", bad: true},
		{model: "rmarw", defines: oneWriter + " ADMIT_FIRST", bad: true},
		{model: "rmarw", defines: oneWriter + " NO_ADMIT", bad: true},
		{model: "rmarw", defines: oneWriter + " HAND_OVER_BLIND", bad: true},
		{model: "rmarw", defines: "N=1 P=1 R=2 GIVE_UP=1 CANCELS_QUIETLY", bad: true},
		{model: "rmarw", defines: oneWriter + " ONE_MORE", bad: true},
		{model: "rmarw", defines: "N=1 P=1 R=1 RROUNDS=3 GIVE_UP=0 COUNTS_ALWAYS", bad: true},
		{model: "rmarw", defines: oneWriter + " TICKET_BLIND", bad: true},
		{model: "rmarw", defines: "N=2 P=2 PER1=2 R=1 GIVE_UP=0 ROUNDS=2 TW=1 TW_AT_ROOT_ONLY", bad: true},
		{model: "rmarw", defines: "N=2 P=3 PER1=2 R=1 GIVE_UP=0 ROUNDS=2 TW=3 OWN_NODE_ABOVE", bad: true},
	})
}
