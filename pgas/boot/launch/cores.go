package launch

// Hosts that are one machine: containers, or network namespaces in a test, divide its CPUs among them. If PEs
// outnumber CPUs, they poll less while they wait, so each host is told how many CPUs it has for itself.

import (
	"slices"
)

// hostCPUs are the PEs of a host and the CPUs that they may use.
type hostCPUs struct {
	PEs     int
	Machine string // what MachineID says of the host
	CPUs    []int  // the CPUs that its PEs may use
}

// coresOf returns how many CPUs host h has for itself: all that it may use, divided among the PEs of all
// hosts that may use one of them too. It returns 0 for less than one.
func coresOf(h hostCPUs, all []hostCPUs) int {
	pes := 0
	for _, g := range all {
		same := g.Machine == h.Machine && g.Machine != ""
		if same && slices.ContainsFunc(g.CPUs, func(c int) bool { return slices.Contains(h.CPUs, c) }) {
			pes += g.PEs
		}
	}
	if pes <= h.PEs {
		return len(h.CPUs)
	}
	return len(h.CPUs) * h.PEs / pes
}
