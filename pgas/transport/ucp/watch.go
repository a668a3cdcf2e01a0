package ucp

// Whom each PE watches with heartbeats (ucx/engine/heartbeat.c): its successor in a ring of all PEs, and a few witnesses
// that it asks when somebody seems to be silent. The ring goes through the hosts in turn, first with the first PE of
// each, then with the second, so that neighbours are on different hosts as far as there are any.

import "github.com/gopgas/gopgas/pgas/boot"

// witnesses is how many PEs are asked besides. They are on other hosts than the one that asks.
const witnesses = 3

// ring are the PEs of a job in the order in which they watch each other.
func ring(hosts []boot.Host) []int {
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

// watchList is whom this PE of the job watches, its successor first; nil if it has nobody to watch. Witnesses on third
// hosts come first: they tell best whether the fault is that of the successor's host.
func watchList(job *boot.Job) []int {
	if len(job.Hosts) < 2 {
		return nil
	}
	pes := ring(job.Hosts)
	at := 0
	for pes[at] != job.PE {
		at++
	}
	next := pes[(at+1)%len(pes)]
	third, other := []int{}, []int{}
	for k := 2; k < len(pes) && len(third) < witnesses; k++ {
		switch pe := pes[(at+k)%len(pes)]; job.HostOf(pe) {
		case job.Here:
		case job.HostOf(next):
			other = append(other, pe)
		default:
			third = append(third, pe)
		}
	}
	list := append(third, other...)
	return append([]int{next}, list[:min(len(list), witnesses)]...)
}

// watch tells the engine whom to watch. A PE whose address cannot be had is watched by nobody: who needs it is told.
func (t *Transport) watch() {
	for i, pe := range watchList(t.job) {
		if address := t.address(pe); address != nil {
			t.engine.Watch(pe, address, i > 0)
		}
	}
}
