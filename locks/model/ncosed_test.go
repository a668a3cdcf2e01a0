package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

//ci:weekly
func TestNCoSED(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "ncosed", Defines: "P=2 ROUNDS=2 GIVE_UP=2"},
		{Model: "ncosed", Defines: "P=3 ROUNDS=1"},
		{Model: "ncosed", Defines: "P=3 W=1 R=2 ROUNDS=2"},
		{Model: "ncosed", Defines: "P=3 W=2 R=1 ROUNDS=2"},
		{Model: "ncosed", Defines: "P=3 W=1 R=2 ROUNDS=2 GIVE_UP=1"},
		{Model: "ncosed", Defines: "P=3 ROUNDS=1 GIVE_UP=2"},
		{Model: "ncosed", Defines: "P=3 W=1 R=2 ROUNDS=1 GIVE_UP=2", Claim: "live"},
		{Model: "ncosed", Defines: "P=3 W=3 R=0 ROUNDS=1 GIVE_UP=2", Claim: "live"},
	})
}

//ci:weekly
func TestNCoSEDMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "ncosed", Defines: "RESETS_WORD P=3 W=1 R=2", Bad: true},
		{Model: "ncosed", Defines: "CLOSES_EARLY P=4 W=2 R=2", Bad: true},
		{Model: "ncosed", Defines: "SKIPS_READERS P=2", Bad: true},
		{Model: "ncosed", Defines: "FREES_AT_ONCE P=3 W=1 R=2 ROUNDS=2", Bad: true},
		{Model: "ncosed", Defines: "NO_MARK P=2", Bad: true},
		{Model: "ncosed", Defines: "TELLS_BLINDLY P=2 GIVE_UP=2", Bad: true},
		{Model: "ncosed", Defines: "FORGETS_READERS P=3 GIVE_UP=2", Bad: true},
		{Model: "ncosed", Defines: "IDLE_EARLY P=3 GIVE_UP=2 ROUNDS=2 W=1 R=3", Bad: true},
	})
}

//ci:weekly
func TestDQNL(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "dqnl", Defines: "P=3 ROUNDS=1"},
		{Model: "dqnl", Defines: "P=2 ROUNDS=2"},
		{Model: "dqnl", Defines: "P=3 ROUNDS=1 GIVE_UP=2", Claim: "live"},
		{Model: "dqnl", Defines: "BELIEVES_FIRST P=2", Bad: true},
		{Model: "dqnl", Defines: "LOST_WAKEUP P=2 GIVE_UP=0", Bad: true},
	})
}

//ci:weekly
func TestSRSL(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "srsl", Defines: "P=3 ROUNDS=1 GIVE_UP=1"},
		{Model: "srsl", Defines: "P=2 ROUNDS=2 GIVE_UP=2"},
		{Model: "srsl", Defines: "P=2 ROUNDS=1 GIVE_UP=1", Claim: "live"},
		{Model: "srsl", Defines: "NO_KEPT P=2 GIVE_UP=1", Bad: true},
		{Model: "srsl", Defines: "LAST_WINS P=2 GIVE_UP=1", Bad: true},
		{Model: "srsl", Defines: "GRANTS_PAST P=2", Bad: true},
		{Model: "srsl", Defines: "FORGETS_READERS P=3", Bad: true},
	})
}

//ci:weekly
func TestService(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "service", Defines: "P=3 NAMES=2 ROUNDS=2"},
		{Model: "service", Defines: "P=3 NAMES=3 ROUNDS=1"},
		{Model: "service", Defines: "BUCKET_ONLY", Bad: true},
		{Model: "service", Defines: "NOT_CHAINED", Bad: true},
		{Model: "service", Defines: "STAYS", Bad: true},
		{Model: "service", Defines: "UNGUARDED", Bad: true},
	})
}
