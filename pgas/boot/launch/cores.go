package launch

// Hosts that are one machine: containers, or network namespaces in a test, divide its CPUs among them.
// Their PEs wait more patiently when there are more of them than CPUs, so each host is told how many of
// its CPUs are its own.

import (
	"os"
	"slices"
	"strings"
)

// machineID tells machines apart: the identity of this boot of the kernel, or nothing.
func machineID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// A tenant is what a host says of the CPUs that it runs on.
type hostCPUs struct {
	PEs     int
	Machine string // machineID
	CPUs    []int  // that its PEs may use
}

// coresOf is how many CPUs tenant h has for itself: all that it may use, divided among the PEs of all
// tenants that may use one of them too. It is 0 if it has less than one.
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
