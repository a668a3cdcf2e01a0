package memory

import (
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/pgas/boot"
)

// of returns the Memory of a job with so many PEs on each host.
func of(pes ...int) *Memory {
	m := &Memory{}
	first := 0
	for i, n := range pes {
		m.hosts = append(m.hosts, boot.Host{Name: fmt.Sprint("host", i), First: first, PEs: n})
		first += n
	}
	return m
}

// TestBuddies: the buddy of a PE is on another host, no two PEs have the same row of one buddy, and the loss of one
// host leaves each image somewhere.
func TestBuddies(t *testing.T) {
	for _, pes := range [][]int{{1, 1}, {2, 2}, {3, 1, 2}, {1, 2, 3, 4}, {5, 1, 1, 1, 7}, {300, 2}} {
		m := of(pes...)
		taken := map[place]int{}
		for pe := range m.hosts[len(pes)-1].First + pes[len(pes)-1] {
			buddy, row := m.buddyOf(pe)
			if m.hostOf(buddy) == m.hostOf(pe) || row < 1 {
				t.Errorf("%v: the buddy of PE %d is PE %d, row %d", pes, pe, buddy, row)
			}
			p := place{pe: buddy, row: row}
			if other, is := taken[p]; is {
				t.Errorf("%v: PEs %d and %d have one place", pes, other, pe)
			}
			taken[p] = pe
		}
		if err := m.mustHaveRows(); err != nil {
			t.Errorf("%v: %v", pes, err)
		}
	}
}

// TestTooFewPEs: a host that cannot keep the images of another one is refused.
func TestTooFewPEs(t *testing.T) {
	for _, m := range []*Memory{of(2*vault.Rows, 1), of(1, vault.Rows), of(1, 1, vault.Rows, 1)} {
		if m.mustHaveRows() == nil {
			t.Errorf("%v: it is not refused", m.hosts)
		}
	}
}
