package topo

// CPUs: the lists that sysfs writes, and those that this process may use.

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// parseCPUs reads a list of CPUs as the kernel writes it, such as 0-3,8-11: ascending, without overlap.
func parseCPUs(text string) ([]int, error) {
	var cpus []int
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	next := 0
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, errA := strconv.ParseUint(low, 10, 32)
		b, errB := strconv.ParseUint(high, 10, 32)
		if errA != nil || errB != nil || int(a) < next || a > b || b >= maxCPU {
			return nil, fmt.Errorf("%q is not a list of CPUs", text)
		}
		for c := int(a); c <= int(b); c++ {
			cpus = append(cpus, c)
		}
		next = int(b) + 1
	}
	return cpus, nil
}

// subset reports whether all of a are in b. Both are in ascending order.
func subset(a, b []int) bool {
	for _, c := range a {
		for len(b) > 0 && b[0] < c {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != c {
			return false
		}
	}
	return true
}

// allowedCPUs returns the CPUs that this process may run on, nil if the kernel does not say.
func allowedCPUs() []int {
	for n := 1024; n <= maxCPU; n *= 2 {
		set := unix.NewCPUSet(n)
		err := unix.SchedGetaffinityDynamic(os.Getpid(), set)
		if errors.Is(err, unix.EINVAL) {
			continue // the kernel has more CPUs than the set
		}
		if err != nil {
			return nil
		}
		var cpus []int
		for c := range n {
			if set.IsSet(c) {
				cpus = append(cpus, c)
			}
		}
		return cpus
	}
	return nil
}
