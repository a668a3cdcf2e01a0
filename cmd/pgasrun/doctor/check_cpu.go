package doctor

// CPUs: which of them PEs get, and what keeps PEs from running on them.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
)

func cpus(s *System) finding {
	allowed := s.CPUs()
	online := countCPUs(s.read("sys/devices/system/cpu/online"))
	text := fmt.Sprintf("%d: up to so many PEs of this host get CPUs of their own", len(allowed))
	if model := s.cpuModel(); model != "" {
		text += "; " + model
	}
	switch {
	case allowed == nil:
		return unknown
	case online > len(allowed):
		return note(fmt.Sprintf("%s; the host has %d, and this process may not run on the others", text, online),
			"PEs are bound to the CPUs of what starts them: ask Slurm for more (--cpus-per-task, --exclusive), or start PEs outside of taskset, numactl or a cpuset")
	}
	return good(text)
}

// countCPUs returns how many CPUs a list of the kernel has, such as 0-3,8. A list that it cannot read has none.
func countCPUs(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}

func (s *System) cpuModel() string {
	for line := range strings.Lines(s.read("proc/cpuinfo")) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// cpuQuota: a group that has used its quota stands still until the next period, whatever its PEs hold.
func cpuQuota(s *System) finding {
	quota := boot.CPUQuotaIn(s.Root)
	switch {
	case quota == 0:
		return good("none")
	case quota < len(s.CPUs()):
		return note(fmt.Sprintf("%d of %s at a time", quota, plural.Count(len(s.CPUs()), "CPU")),
			"the kernel stops all PEs of the group when they have used their share of a period, for tens of milliseconds: start no more PEs than that, or raise cpu.max (CPUQuota of systemd, --cpus of docker, resources.limits.cpu of a pod)")
	}
	return good(fmt.Sprintf("%s at a time, all that this process may run on", plural.Count(quota, "CPU")))
}

func governor(s *System) finding {
	g := s.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	switch g {
	case "":
		return good("none: the machine does not show its frequencies")
	case "performance", "schedutil":
		return good(g)
	}
	return note(g, "latencies vary with the frequency of the CPU: `cpupower frequency-set -g performance` for measurements")
}

func numa(s *System) finding {
	nodes := 0
	for _, name := range s.list("sys/devices/system/node") {
		if number, ok := strings.CutPrefix(name, "node"); ok && countCPUs(number) == 1 {
			nodes++
		}
	}
	text := plural.Count(max(nodes, 1), "node")
	if max(nodes, 1) == 1 {
		text = "1 node"
	}
	if n, _ := s.number("proc/sys/kernel/numa_balancing"); n > 0 && nodes > 1 {
		return note(text+", and the kernel moves memory between them", "the memory of heaps is where its PE has touched it first, and moving it costs page faults: `sysctl kernel.numa_balancing=0`")
	}
	return good(text)
}

// starving is the first release of Linux in which a group has been seen to starve (docs/internals/engine.md).
var starving = [2]int{6, 18}

// autogroups: the kernel makes each session a group, and divides CPUs by groups.
func autogroups(s *System) finding {
	n, there := s.number("proc/sys/kernel/sched_autogroup_enabled")
	const remedy = "`sysctl kernel.sched_autogroup_enabled=0`, or keep other work off the CPUs of PEs"
	switch {
	case !there:
		return good("this kernel has none")
	case n == 0:
		return good("off")
	case s.atLeast(starving):
		return problem("on: with this kernel a PE that shares a CPU with another session may not run for half a minute, and counts as dead then", remedy)
	}
	return note("on: PEs share CPUs with other sessions by groups, however many PEs there are", remedy)
}

// atLeast reports whether the kernel is of this release or a later one.
func (s *System) atLeast(release [2]int) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(s.read("proc/sys/kernel/osrelease"), "%d.%d", &major, &minor); n != 2 {
		return false
	}
	return major > release[0] || major == release[0] && minor >= release[1]
}
