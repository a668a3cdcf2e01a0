package model

import "testing"

func TestNCoSED(t *testing.T) {
	searches(t, []run{
		{model: "ncosed", defines: "P=2 ROUNDS=2 GIVE_UP=2"},
		{model: "ncosed", defines: "P=3 ROUNDS=1"},
		{model: "ncosed", defines: "P=3 W=1 R=2 ROUNDS=2"},
		{model: "ncosed", defines: "P=3 W=2 R=1 ROUNDS=2"},
		{model: "ncosed", defines: "P=3 W=1 R=2 ROUNDS=2 GIVE_UP=1"},
		{model: "ncosed", defines: "P=3 ROUNDS=1 GIVE_UP=2"},
		{model: "ncosed", defines: "P=3 W=1 R=2 ROUNDS=1 GIVE_UP=2", claim: "live"},
		{model: "ncosed", defines: "P=3 W=3 R=0 ROUNDS=1 GIVE_UP=2", claim: "live"},
	})
}

func TestNCoSEDMutants(t *testing.T) {
	searches(t, []run{
		{model: "ncosed", defines: "RESETS_WORD P=3 W=1 R=2", bad: true},
		{model: "ncosed", defines: "CLOSES_EARLY P=4 W=2 R=2", bad: true},
		{model: "ncosed", defines: "SKIPS_READERS P=2", bad: true},
		{model: "ncosed", defines: "FREES_AT_ONCE P=3 W=1 R=2 ROUNDS=2", bad: true},
		{model: "ncosed", defines: "NO_MARK P=2", bad: true},
		{model: "ncosed", defines: "TELLS_BLINDLY P=2 GIVE_UP=2", bad: true},
		{model: "ncosed", defines: "FORGETS_READERS P=3 GIVE_UP=2", bad: true},
		{model: "ncosed", defines: "IDLE_EARLY P=3 GIVE_UP=2 ROUNDS=2 W=1 R=3", bad: true},
	})
}

func TestDQNL(t *testing.T) {
	searches(t, []run{
		{model: "dqnl", defines: "P=3 ROUNDS=2"},
		{model: "dqnl", defines: "P=3 ROUNDS=1 GIVE_UP=2", claim: "live"},
		{model: "dqnl", defines: "BELIEVES_FIRST P=2", bad: true},
		{model: "dqnl", defines: "LOST_WAKEUP P=2 GIVE_UP=0", bad: true},
	})
}

func TestSRSL(t *testing.T) {
	searches(t, []run{
		{model: "srsl", defines: "P=3 ROUNDS=1 GIVE_UP=1"},
		{model: "srsl", defines: "P=2 ROUNDS=2 GIVE_UP=2"},
		{model: "srsl", defines: "P=2 ROUNDS=1 GIVE_UP=1", claim: "live"},
		{model: "srsl", defines: "NO_KEPT P=2 GIVE_UP=1", bad: true},
		{model: "srsl", defines: "LAST_WINS P=2 GIVE_UP=1", bad: true},
		{model: "srsl", defines: "GRANTS_PAST P=2", bad: true},
		{model: "srsl", defines: "FORGETS_READERS P=3", bad: true},
	})
}

func TestService(t *testing.T) {
	searches(t, []run{
		{model: "service", defines: "P=3 NAMES=2 ROUNDS=2"},
		{model: "service", defines: "P=3 NAMES=3 ROUNDS=1"},
		{model: "service", defines: "BUCKET_ONLY", bad: true},
		{model: "service", defines: "NOT_CHAINED", bad: true},
		{model: "service", defines: "STAYS", bad: true},
		{model: "service", defines: "UNGUARDED", bad: true},
	})
}
