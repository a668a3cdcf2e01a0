package boot

// What the processes of this host may use: its memory and CPUs, or less if a control group limits them, as those of
// pods, containers and steps of Slurm do.

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// HostMemory returns the memory of this host in bytes, or what the control groups of this process leave of it.
func HostMemory() uint64 {
	memory := uint64(1 << 30)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		memory = info.Totalram * uint64(info.Unit)
	}
	for _, limit := range groupFiles("/", "memory.max") {
		if bytes, err := strconv.ParseUint(limit, 10, 64); err == nil && bytes > 0 {
			memory = min(memory, bytes)
		}
	}
	return memory
}

// CPUQuota returns how many CPUs the control groups of this process let it use at a time, rounded up, or 0 if they do
// not limit it.
func CPUQuota() int { return CPUQuotaIn("/") }

// CPUQuotaIn is CPUQuota with another root of the file system.
func CPUQuotaIn(root string) int {
	least := math.Inf(1)
	for _, limit := range groupFiles(root, "cpu.max") {
		quota, period, _ := strings.Cut(limit, " ")
		q, err1 := strconv.ParseFloat(quota, 64) // "max" has none
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

// groupFiles returns the contents of the named file of this process's control group (cgroup v2) and of those above it.
func groupFiles(root, name string) []string {
	own, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	var contents []string
	for line := range strings.Lines(string(own)) {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue
		}
		for dir = filepath.Clean("/" + dir); ; dir = filepath.Dir(dir) {
			if b, err := os.ReadFile(filepath.Join(root, "sys/fs/cgroup", dir, name)); err == nil {
				contents = append(contents, strings.TrimSpace(string(b)))
			}
			if dir == "/" {
				break
			}
		}
	}
	return contents
}
