//go:build cgo

package ucp

import (
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestWatchList: every PE is watched, by PEs of other hosts only; witnesses are on other hosts than the PE that asks
// them, third ones first, and are no successors; and from every PE the pings reach all.
func TestWatchList(t *testing.T) {
	for _, sizes := range [][]int{{1, 1}, {1, 2}, {2, 2}, {2, 2, 2}, {4, 1}, {1, 4, 2}, {7, 2, 1}, {3, 3, 3, 3}, {1, 1, 1, 1, 1}} {
		var hosts []boot.Host
		npes := 0
		for _, n := range sizes {
			hosts = append(hosts, boot.Host{First: npes, PEs: n})
			npes += n
		}
		next := make([][]int, npes)
		for pe := range npes {
			job := &boot.Job{PE: pe, NPEs: npes, Hosts: hosts}
			job.HostIndex = job.HostOf(pe)
			successors, asked := watchList(job)
			next[pe] = successors
			if slices.ContainsFunc(append(successors, asked...), func(o int) bool { return job.HostOf(o) == job.HostIndex }) {
				t.Errorf("%v: PE %d watches %v and asks %v, and one is on its own host", sizes, pe, successors, asked)
			}
			third := true
			for _, w := range asked {
				h := job.HostOf(w)
				if slices.Contains(successors, w) || h != job.HostOf(successors[0]) && !third {
					t.Errorf("%v: PE %d watches %d and asks %v", sizes, pe, successors, asked)
				}
				third = h != job.HostOf(successors[0])
			}
		}
		for pe := range npes {
			if hops := hopsFrom(pe, next); hops < 0 || hops > 2*npes {
				t.Errorf("%v: the pings of PE %d take %d hops to reach every PE by %v", sizes, pe, hops, next)
			}
		}
	}
	if successors, asked := watchList(&boot.Job{PE: 1, NPEs: 3, Hosts: []boot.Host{{PEs: 3}}}); successors != nil || asked != nil {
		t.Errorf("a PE of a job on one host watches %v and asks %v", successors, asked)
	}
}

// hopsFrom returns the number of hops in which a ping of pe and the pings it causes reach every PE; -1 if they do not.
func hopsFrom(pe int, next [][]int) int {
	reached := map[int]bool{pe: true}
	front := []int{pe}
	for hops := 0; len(front) > 0; hops++ {
		if len(reached) == len(next) {
			return hops
		}
		var more []int
		for _, p := range front {
			for _, q := range next[p] {
				if !reached[q] {
					reached[q] = true
					more = append(more, q)
				}
			}
		}
		front = more
	}
	return -1
}
