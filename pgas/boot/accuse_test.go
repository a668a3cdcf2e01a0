package boot

import (
	"errors"
	"testing"
)

// TestAccusation checks that the launcher receives what a PE writes, once for each change, and that the
// errors of all PEs name the accuser.
func TestAccusation(t *testing.T) {
	s := NewSegment(2, 1, 1<<20)
	seen := uint64(0)
	for _, want := range []Accusation{{PE: 0, By: MaxPEs - 1}, {PE: MaxPEs - 1, By: 0, Silent: true}, {PE: 3, By: 7, Silent: true, Certain: true}, {PE: 4, By: 7, Silent: true, LargeLost: true}} {
		go s.Accuse(want)
		var got Accusation
		if got, seen = s.AwaitAccusation(seen); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		var told Accusation
		if err := HowDied(want.How()); !errors.As(err, &told) || told.By != want.By || told.Silent != want.Silent || told.LargeLost != want.LargeLost {
			t.Errorf("%+v is told as %v", want, err)
		}
	}
	for status, want := range map[uint64]string{9: "killed by signal 9 (killed)", 1 << 8: "exited with status 1"} {
		if got := HowDied(status).Error(); got != want {
			t.Errorf("%#x is told as %q, want %q", status, got, want)
		}
	}
}
