//go:build cgo

package ucp

// Which PEs each PE watches with heartbeats (ucx/engine/heartbeat.c): its successors in a walk through all PEs, and a
// few witnesses that it asks when a PE seems to be silent. The walk goes through the hosts in turn, first with the
// first PE of each, then with the second. Where only PEs of one host are left, it visits a PE of another host between
// any two of them: no PE watches one of its own host, because UCX's ports do not accept connections from there.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
)

// witnesses is the number of witnesses of a PE. They are on other hosts than the PE.
const witnesses = 3

// roundRobin returns the PEs of a job, taking the hosts in turn.
func roundRobin(hosts []boot.Host) []int {
	var pes []int
	for i, more := 0, true; more; i++ {
		more = false
		for _, h := range hosts {
			if i < h.PEs {
				pes = append(pes, h.First+i)
				more = true
			}
		}
	}
	return pes
}

// walk returns them in that order with a PE of another host inserted between any two neighbours of the same host. It is
// cyclic.
func walk(job *boot.Job) []int {
	pes := roundRobin(job.Hosts)
	var all []int
	elsewhere := map[int][]int{} // by host, once it is needed: the PEs of the others
	bridges := 0
	for i, pe := range pes {
		all = append(all, pe)
		h := job.HostOf(pe)
		if h != job.HostOf(pes[(i+1)%len(pes)]) {
			continue
		}
		if elsewhere[h] == nil {
			elsewhere[h] = slices.DeleteFunc(slices.Clone(pes), func(o int) bool { return job.HostOf(o) == h })
		}
		all = append(all, elsewhere[h][bridges%len(elsewhere[h])])
		bridges++
	}
	return all
}

// watchList returns the successors of this PE and its witnesses; none if there is no other host. Witnesses on third
// hosts come first: they tell best whether the fault is that of the first successor's host.
func watchList(job *boot.Job) (successors, asked []int) {
	if len(job.Hosts) < 2 {
		return nil, nil
	}
	pes := walk(job)
	for i, pe := range pes {
		if next := pes[(i+1)%len(pes)]; pe == job.PE && !slices.Contains(successors, next) {
			successors = append(successors, next)
		}
	}
	return successors, askedBy(job, successors)
}

// askedBy returns the witnesses of this PE. It begins after this PE in round-robin order, so that each PE is the
// witness of a few.
func askedBy(job *boot.Job, successors []int) []int {
	var third, other []int
	pes := roundRobin(job.Hosts)
	at := slices.Index(pes, job.PE)
	for _, pe := range slices.Concat(pes[at:], pes[:at]) {
		switch host := job.HostOf(pe); {
		case host == job.HostIndex || slices.Contains(successors, pe):
		case host == job.HostOf(successors[0]):
			other = append(other, pe)
		default:
			third = append(third, pe)
		}
	}
	list := append(third, other...)
	return list[:min(len(list), witnesses)]
}

// watch registers this PE's successors and witnesses with the engine. It leaves out a PE whose address is not known:
// operations to that PE fail anyway.
func (t *Transport) watch() {
	successors, asked := watchList(t.job)
	for i, pe := range append(successors, asked...) {
		if address := t.address(pe); address != nil {
			t.engine.Watch(pe, address, i >= len(successors))
		}
	}
}
