package boot

// What the processes of this host may use: its memory and CPUs, or less if a control group limits them, as those of
// pods, containers and steps of Slurm do. Both versions of control groups are read: of version 1 each controller has a
// tree of its own. In a container the path of the group may be that of the host, where the tree begins at the
// container, so directories that do not exist are passed over.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// HostMemory returns the memory of this host in bytes, or what the control groups of this process leave of it.
func HostMemory() uint64 {
	memory := installedMemory()
	if limit, ok := memoryGroupsIn("/").limit(); ok {
		memory = min(memory, limit)
	}
	return memory
}

func installedMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 1 << 30
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// CPUQuota returns how many CPUs the control groups of this process let it use at a time, rounded up, or 0 if they do
// not limit it.
func CPUQuota() int { return CPUQuotaIn("/") }

// CPUQuotaIn is CPUQuota with another root of the file system.
func CPUQuotaIn(root string) int {
	least := math.Inf(1)
	for _, dir := range groupDirs(root, "cpu") {
		quota, period, _ := strings.Cut(readGroup(dir, "cpu.max"), " ")
		if quota == "" {
			quota, period = readGroup(dir, "cpu.cfs_quota_us"), readGroup(dir, "cpu.cfs_period_us")
		}
		q, err1 := strconv.ParseFloat(quota, 64) // "max", of version 1 -1, is none
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 {
			least = min(least, q/p)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return int(math.Ceil(least))
}

// groupDirs returns the directories of this process's control groups that have the controller: its own, and those above
// it.
func groupDirs(root, controller string) []string {
	own, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range strings.Lines(string(own)) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, dir, _ := strings.Cut(rest, ":")
		var tree string
		switch {
		case number == "0" && controllers == "":
			tree = "sys/fs/cgroup"
		case strings.Contains(","+controllers+",", ","+controller+","):
			tree = filepath.Join("sys/fs/cgroup", controller)
		default:
			continue
		}
		for dir = filepath.Clean("/" + dir); ; dir = filepath.Dir(dir) {
			dirs = append(dirs, filepath.Join(root, tree, dir))
			if dir == "/" {
				break
			}
		}
	}
	return dirs
}

// readGroup returns the text of a file of a control group, or "" if there is none.
func readGroup(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// numberOf returns the number in a line "name number" of a text.
func numberOf(text, name string) uint64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(rest), 10, 64) // 0 if it is none
			return n
		}
	}
	return 0
}

// memoryGroup is what a control group says of memory.
type memoryGroup struct {
	limit uint64 // the limit in bytes; math.MaxUint64 if the group has none
	hits  uint64 // how often its processes wanted more
	kills uint64 // how many of its processes the kernel has killed for want of memory
}

// memoryGroups are the control groups of this process, its own first.
type memoryGroups []memoryGroup

func memoryGroupsIn(root string) memoryGroups {
	var groups memoryGroups
	for _, dir := range groupDirs(root, "memory") {
		g := memoryGroup{limit: math.MaxUint64}
		limit, v1 := readGroup(dir, "memory.max"), readGroup(dir, "memory.limit_in_bytes")
		if limit == "" && v1 == "" {
			continue
		}
		if n, err := strconv.ParseUint(limit+v1, 10, 64); err == nil && n > 0 && n < math.MaxInt64&^0xffff {
			g.limit = n
		}
		if v1 != "" {
			g.hits, _ = strconv.ParseUint(readGroup(dir, "memory.failcnt"), 10, 64)
			g.kills = numberOf(readGroup(dir, "memory.oom_control"), "oom_kill")
		} else {
			events := readGroup(dir, "memory.events")
			g.hits, g.kills = numberOf(events, "oom"), numberOf(events, "oom_kill")
		}
		groups = append(groups, g)
	}
	return groups
}

// limit returns the least limit of groups, if any has one.
func (groups memoryGroups) limit() (bytes uint64, limited bool) {
	bytes = math.MaxUint64
	for _, g := range groups {
		bytes = min(bytes, g.limit)
	}
	return bytes, bytes != math.MaxUint64
}

// MemoryKills is how often the kernel had killed processes for want of memory at one moment.
type MemoryKills struct {
	root      string
	groups    memoryGroups
	host      uint64
	explained uint64 // the kills since the count was taken that Explain has been told of
}

// CountMemoryKills returns MemoryKills of now.
func CountMemoryKills() *MemoryKills { return countMemoryKillsIn("/") }

func countMemoryKillsIn(root string) *MemoryKills {
	vmstat, _ := os.ReadFile(filepath.Join(root, "proc/vmstat")) // no kills are counted without it
	return &MemoryKills{root: root, groups: memoryGroupsIn(root), host: numberOf(string(vmstat), "oom_kill")}
}

// Explain returns for want of which memory the kernel has killed a child of this process that has just ended by
// SIGKILL, or "" if the kernel's counts say that it has killed none since they were taken, but those that Explain has
// explained.
func (m *MemoryKills) Explain() string {
	now := countMemoryKillsIn(m.root)
	if now.host-m.host <= m.explained || len(now.groups) != len(m.groups) {
		return ""
	}
	m.explained++
	const remedy = ": set GOMEMLIMIT or PGAS_HEAP_MAX to less, or run fewer PEs on a host"
	killed := false
	for i, g := range now.groups {
		killed = killed || g.kills > m.groups[i].kills
		if killed && g.hits > m.groups[i].hits && g.limit != math.MaxUint64 {
			return "out of memory: the limit of its control group (" + BytesText(g.limit) + ")" + remedy
		}
	}
	if killed {
		return "out of memory: its host has " + BytesText(installedMemory()) + remedy
	}
	return "probably out of memory: the kernel has killed a process of its host for want of it" + remedy
}

// BytesText writes a number of bytes in the largest unit in which it is 1 or more.
func BytesText(n uint64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return strconv.FormatUint(n, 10) + " bytes"
	}
	v, unit := float64(n), 0
	for v /= 1 << 10; v >= 1<<10 && unit < len(units)-1; v /= 1 << 10 {
		unit++
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + units[unit:unit+1] + "iB"
}

// GoMemoryShare returns how much memory Go may use in each of local PEs, in bytes: nine tenths of the PE's share of
// what control groups leave. It returns 0 if they do not limit memory.
func GoMemoryShare(local int) int64 {
	limit, ok := memoryGroupsIn("/").limit()
	if !ok || limit >= installedMemory() {
		return 0
	}
	return int64(limit / 10 * 9 / uint64(local))
}
