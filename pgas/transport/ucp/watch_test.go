package ucp

import (
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestWatchList: every PE has exactly one that watches it, on another host unless its host has more PEs than all others
// together; witnesses are on other hosts than the PE that asks them, third ones first; and from every PE the ring leads to all.
func TestWatchList(t *testing.T) {
	for _, sizes := range [][]int{{1, 1}, {2, 2}, {2, 2, 2}, {4, 1}, {1, 4, 2}, {3, 3, 3, 3}, {1, 1, 1, 1, 1}} {
		var hosts []boot.Host
		npes := 0
		for _, n := range sizes {
			hosts = append(hosts, boot.Host{First: npes, PEs: n})
			npes += n
		}
		next := make([]int, npes)
		for pe := range npes {
			job := &boot.Job{PE: pe, NPEs: npes, Hosts: hosts}
			job.Here = job.HostOf(pe)
			list := watchList(job)
			next[pe] = list[0]
			if even := slices.Max(sizes) == slices.Min(sizes); even && job.HostOf(next[pe]) == job.Here {
				t.Errorf("%v: PE %d watches PE %d of its own host", sizes, pe, next[pe])
			}
			third := true
			for _, w := range list[1:] {
				h := job.HostOf(w)
				if h == job.Here || w == next[pe] || h != job.HostOf(next[pe]) && !third {
					t.Errorf("%v: PE %d watches %d and asks %v", sizes, pe, list[0], list[1:])
				}
				third = h != job.HostOf(next[pe])
			}
		}
		seen := map[int]bool{}
		for pe := 0; !seen[pe]; pe = next[pe] {
			seen[pe] = true
		}
		if len(seen) != npes {
			t.Errorf("%v: the ring from PE 0 has %d of %d PEs: %v", sizes, len(seen), npes, next)
		}
	}
	if list := watchList(&boot.Job{PE: 1, NPEs: 3, Hosts: []boot.Host{{PEs: 3}}}); list != nil {
		t.Errorf("a PE of a job on one host watches %v", list)
	}
}
