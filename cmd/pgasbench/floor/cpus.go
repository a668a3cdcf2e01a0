package floor

// Where benches run: on CPUs that this process may use.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("CPU %d: %w", cpu, err)
	}
	return nil
}

// allowedCPUs returns the CPUs that this process may use.
func allowedCPUs() (cpus []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	for cpu := range 8 * len(set) * 8 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

const system = "/sys/devices/system/cpu/cpu"

// listed reads a list such as "0-3,8" of a CPU from the kernel's files; of none, nil.
func listed(cpu int, file string) (all []int) {
	text, err := os.ReadFile(system + strconv.Itoa(cpu) + "/" + file)
	if err != nil {
		return nil
	}
	return parseCPUs(string(text))
}

func parseCPUs(text string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(from)
		if err != nil {
			return all
		}
		high := low
		if isRange {
			high, _ = strconv.Atoi(to)
		}
		for cpu := low; cpu <= high; cpu++ {
			all = append(all, cpu)
		}
	}
	return all
}

// candidates returns the CPUs that may be nearest to cpu: cores that share a cache with it, or else any; no thread of
// its core.
func candidates(cpu int, allowed []int) []int {
	const most = 8
	same, cached := listed(cpu, "topology/thread_siblings_list"), listed(cpu, "cache/index3/shared_cpu_list")
	others := slices.DeleteFunc(slices.Clone(allowed), func(c int) bool { return c == cpu || slices.Contains(same, c) })
	near := slices.DeleteFunc(slices.Clone(others), func(c int) bool { return !slices.Contains(cached, c) })
	if len(near) > 0 {
		others = near
	}
	return others[:min(len(others), most)]
}

// nearestPair returns the first CPU, and the one to which a cache line travels fastest from there.
func nearestPair(ctx context.Context) (a, b int, err error) {
	const look = time.Millisecond
	allowed, err := allowedCPUs()
	if err != nil {
		return 0, 0, err
	}
	others := candidates(allowed[0], allowed)
	switch len(others) {
	case 0:
		return allowed[0], -1, nil
	case 1:
		return allowed[0], others[0], nil
	}
	least := 0.0
	for _, cpu := range others {
		s, err := together(ctx, order{Bench: "cache-line", Bytes: 8, CPU: cpu, Point: look, Processes: 2}, allowed[0], "")
		if err != nil {
			return 0, 0, err
		}
		if m := s.Quantile(0.5); least == 0 || m < least {
			least, b = m, cpu
		}
	}
	return allowed[0], b, nil
}

// beyondCache returns a number of bytes whose copy leaves no cache useful, and not more than a test machine has.
func beyondCache() int {
	const least, most = 32 << 20, 128 << 20
	return min(max(2*largestCache(), least), most)
}

// largestCache returns the bytes of the last cache of the first CPU; 32 MiB if the kernel does not say.
func largestCache() int {
	largest := 0
	files, _ := filepath.Glob(system + "0/cache/index*/size")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K")); err == nil {
			largest = max(largest, kib<<10)
		}
	}
	if largest == 0 {
		largest = 32 << 20
	}
	return largest
}
