package topo

// Detecting the place of a PE, from /sys and the environment of Slurm.
//
// A PE is in an element of its host if every CPU that it may use is. So a PE that pgasrun has bound to
// one core has an element at every level, and one that may run on all CPUs of a host with two sockets has
// none below the host. A level that /sys lacks, or has in an unknown format, is not known.
// Detecting never fails, because a program must run in a container without /sys too.

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Detect returns the place of this process.
func Detect() Place { return DetectIn(os.DirFS("/sys"), allowedCPUs(), os.Environ()) }

// DetectIn returns the place of a PE that may run on cpus (ascending) of a host whose /sys is sys, with the
// environment environ ("NAME=value").
func DetectIn(sys fs.FS, cpus []int, environ []string) Place {
	var p Place
	if len(cpus) > 0 && cpus[0] < maxCPU {
		for i, element := range elementsOf(sys, cpus[0]) {
			if len(element) > 0 && subset(cpus, element) {
				p.inside[i] = 1 + uint16(element[0])
			}
		}
	}
	p.fromSlurm(environ)
	return p
}

// elementsOf returns the CPUs of the elements that cpu is in, in the order of insideNames.
func elementsOf(sys fs.FS, cpu int) (e [insideLevels][]int) {
	dir := path.Join("devices/system/cpu", "cpu"+strconv.Itoa(cpu))
	socket := readCPUs(sys, dir+"/topology/package_cpus_list", dir+"/topology/core_siblings_list")
	core := readCPUs(sys, dir+"/topology/core_cpus_list", dir+"/topology/thread_siblings_list")
	if core == nil {
		return e
	}
	cache := largestCache(sys, dir+"/cache")
	if cache == nil {
		cache = core // virtual machines often show no caches, but hardware threads of a core always share some
	}
	return [insideLevels][]int{socket, node(sys, cpu), cache, core}
}

// node returns the CPUs of the NUMA node that cpu is in.
func node(sys fs.FS, cpu int) []int {
	const dir = "devices/system/node"
	entries, err := fs.ReadDir(sys, dir)
	if err != nil {
		return readCPUs(sys, "devices/system/cpu/online") // a kernel without NUMA: one node
	}
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), "node")
		if _, err := strconv.ParseUint(number, 10, 31); !ok || err != nil {
			continue
		}
		if cpus := readCPUs(sys, path.Join(dir, entry.Name(), "cpulist")); subset([]int{cpu}, cpus) {
			return cpus
		}
	}
	return nil
}

// largestCache returns the CPUs that share the outermost cache of a CPU.
func largestCache(sys fs.FS, dir string) []int {
	entries, err := fs.ReadDir(sys, dir)
	if err != nil {
		return nil
	}
	var cpus []int
	outermost := 0
	for _, entry := range entries {
		index := path.Join(dir, entry.Name())
		level, err := strconv.Atoi(readText(sys, index+"/level"))
		if err != nil || level <= outermost {
			continue
		}
		if shared := readCPUs(sys, index+"/shared_cpu_list"); shared != nil {
			cpus, outermost = shared, level
		}
	}
	return cpus
}

// readCPUs reads the first of files that is a list of CPUs. It returns nil if none is.
func readCPUs(sys fs.FS, files ...string) []int {
	for _, file := range files {
		if cpus, err := parseCPUs(readText(sys, file)); err == nil && len(cpus) > 0 {
			return cpus
		}
	}
	return nil
}

// readText returns the contents of a file, or "".
func readText(sys fs.FS, file string) string {
	text, err := fs.ReadFile(sys, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
