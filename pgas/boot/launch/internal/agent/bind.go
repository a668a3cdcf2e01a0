package agent

// Binding PEs to CPUs. With a CPU or more for each PE of a host, each gets CPUs of its own, of as few NUMA nodes,
// caches and cores as there can be, neighbours next to each other. Unbound, two PEs that wait for one another now and
// then stay on one CPU, and a ping-pong of 60 ns takes 40 µs. With fewer CPUs than PEs the kernel places them better.

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/topo"
)

// Binding returns the CPUs of each of the PEs of this host: nil for a PE that may run on any of them.
func Binding(pes int, unbound bool) [][]int {
	if !unbound {
		if sets := cpuSets(boot.AllowedCPUs(), pes); sets != nil {
			return sets
		}
	}
	return make([][]int, pes)
}

// cpuSets divides cpus among pes PEs. It returns nil if binding would not help.
func cpuSets(cpus []int, pes int) [][]int {
	if pes < 2 || pes > len(cpus) {
		return nil
	}
	return topo.Divide(os.DirFS("/sys"), cpus, pes)
}

// startBound calls start with the calling thread, and so the process that start creates, bound to cpus. The caller
// has locked its thread. If the kernel refuses to bind, startBound calls start all the same.
func startBound(cpus []int, start func() error) error {
	var before, set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if len(cpus) > 0 && unix.SchedGetaffinity(0, &before) == nil && unix.SchedSetaffinity(0, &set) == nil {
		defer unix.SchedSetaffinity(0, &before)
	}
	return start()
}
