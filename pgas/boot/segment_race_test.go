package boot

import "testing"

// TestFirstRace: the first PE of a host that reports a race does, and others of it do not, as long as there is room.
func TestFirstRace(t *testing.T) {
	var h Header
	for hash := range uint64(2 * len(h.racesTold)) {
		room := hash < uint64(len(h.racesTold))
		if !h.FirstRace(hash+1) || h.FirstRace(hash+1) == room {
			t.Errorf("race %d: room %v", hash, room)
		}
	}
	if h := new(Header); !h.FirstRace(0) || h.FirstRace(0) {
		t.Error("a hash of 0 is not kept")
	}
}
