package node

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestSleepersOfGroups: a PE that sleeps until members of a team arrive is woken by them, and updates of its heap's
// words find nothing to ring; one that sleeps on words is woken by updates alone.
func TestSleepersOfGroups(t *testing.T) {
	var c waiterPool
	c.init()
	var st boot.State
	rings := func(ring func()) bool {
		before := st.Doorbell.Load()
		ring()
		return st.Doorbell.Load() != before
	}
	update, arrive := func() { st.Ring(4096) }, st.RingGroup
	for _, x := range []struct {
		waiting      []uint64 // of each sleeper, 0 for one that waits for a group
		word, member bool     // what rings
	}{
		{nil, false, false},
		{[]uint64{0}, false, true},
		{[]uint64{0, 0}, false, true},
		{[]uint64{4096}, true, false},
		{[]uint64{8192}, false, false},
		{[]uint64{8192, 16384}, true, false}, // any update
		{[]uint64{0, 4096}, true, true},
	} {
		for _, w := range x.waiting {
			c.enterSleep(&st, w)
		}
		if word, member := rings(update), rings(arrive); word != x.word || member != x.member {
			t.Errorf("%d: an update rings: %v, a member's arrival: %v", x.waiting, word, member)
		}
		for _, w := range x.waiting {
			c.leaveSleep(&st, w)
		}
		if rings(update) || rings(arrive) {
			t.Errorf("%d: a PE that is awake is rung", x.waiting)
		}
	}
}
