package locks_test

import (
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
)

// TestDeaths: whatever a PE is doing with a lock when it dies, the others learn of it and none hangs.
func TestDeaths(t *testing.T) {
	for name, make := range map[string]lockstest.Maker{
		"Spin": makeSpin, "SpinRW": makeSpinRW, "D-MCS": makeDMCS, "RMA-MCS": makeRMAMCS(0, 2),
		"RMA-RW": makeRMARW(locks.RMARWOptions{TDC: 2}),
	} {
		t.Run(name, func(t *testing.T) { lockstest.Deaths(t, twoOnHost, 4, 50, make) })
	}
}
