package launch

// Where PEs run. With a CPU or more for each PE of a host, each gets CPUs of its own, neighbours next to
// each other: left alone, the kernel now and then keeps two PEs that wait for one another on one CPU,
// and a ping-pong of 60 ns takes 40 µs. With fewer CPUs than PEs the kernel places them better.

import "golang.org/x/sys/unix"

// cpuSets divides cpus among pes PEs; nil where binding would not help.
func cpuSets(cpus []int, pes int) [][]int {
	if pes < 2 || pes > len(cpus) {
		return nil
	}
	s := make([][]int, pes)
	for i := range s {
		s[i] = cpus[i*len(cpus)/pes : (i+1)*len(cpus)/pes]
	}
	return s
}

// allowedCPUs lists the CPUs that this process may use.
func allowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// startBound runs start with the calling thread, and so the process it starts, bound to cpus; the caller
// has locked its thread. A kernel that refuses is no reason not to start.
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
