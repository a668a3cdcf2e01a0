//go:build cgo

package ucp

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/ucx/engine"
)

// TestBlame: a PE that loses another names the failure that came first, as far as its host knows.
func TestBlame(t *testing.T) {
	const npes, heapMax = 6, 2 << 20
	for _, c := range []struct {
		name     string
		reported map[int]int // the PE whose loss was reported to a PE of this host
		died     int         // the PE that the launcher has seen die, or -1
		want     int
		says     string
	}{
		{name: "nothing else is known", died: -1, want: 0},
		{name: "the launcher names it too", died: 0, want: 0, says: "the launcher says"},
		{name: "the launcher names another", died: 3, want: 3, says: "since then PE 0 is lost too"},
		{name: "another PE of the host has lost it too", reported: map[int]int{4: 0}, died: -1, want: 0},
		{name: "another PE of the host has lost another", reported: map[int]int{4: 3}, died: -1, want: 3, says: "PE 4 has lost it; since then PE 0 is lost too"},
		{name: "this PE has lost another before", reported: map[int]int{4: 2, 5: 3}, died: -1, want: 3, says: "PE 5 has lost it"},
		{name: "the launcher goes before the host", reported: map[int]int{4: 2}, died: 3, want: 3, says: "since then PE 0 is lost too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := boot.CreateSegment(npes, 4, 2, 1, heapMax)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			segment, err := boot.MapSegment(file)
			if err != nil {
				t.Fatal(err)
			}
			defer segment.Close()
			hosts := []boot.Host{{Name: "a", First: 0, PEs: 4}, {Name: "b", First: 4, PEs: 2}}
			for pe, lost := range c.reported {
				(&boot.Job{PE: pe, NPEs: npes, Hosts: hosts, HostIndex: 1, Segment: segment}).Lost(lost)
			}
			if c.died >= 0 {
				segment.Fail(c.died, 9)
			}
			b := blame{job: &boot.Job{PE: 5, NPEs: npes, Hosts: hosts, HostIndex: 1, Segment: segment, Launched: true}}
			lost := &engine.LostError{PE: 0, Reason: engine.Gone, Status: "Endpoint is not connected"}
			got := b.peerError(lost)
			if got.PE != c.want || got.Host != "a" {
				t.Errorf("blames PE %d on host %s, want PE %d on host a: %v", got.PE, got.Host, c.want, got)
			}
			if !strings.Contains(got.Error(), c.says) || !errors.Is(got, lost) {
				t.Errorf("%q says nothing like %q, or hides what the engine saw", got, c.says)
			}
		})
	}
}
