package topo

// Finding the place of a PE, from what Linux says in /sys and Slurm in the environment.
//
// A PE is in an element of its host if every CPU that it may use is. So a PE that pgasrun has bound to
// one core has an element at every level, and one that may run anywhere on a host with two sockets has
// none below the host. Whatever /sys does not say, or says in a way not understood, is not known;
// nothing here fails, because a program must run in a container without /sys too.

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Detect is the place of this process.
func Detect() Place { return DetectIn(os.DirFS("/sys"), allowedCPUs(), os.Environ()) }

// DetectIn is the place of a PE that may run on cpus (ascending) of a host whose /sys is sys, with the
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

// elementsOf are the CPUs of the elements that one CPU is in, in the order of insideNames.
func elementsOf(sys fs.FS, cpu int) (e [insideLevels][]int) {
	dir := path.Join("devices/system/cpu", "cpu"+strconv.Itoa(cpu))
	socket := readCPUs(sys, dir+"/topology/package_cpus_list", dir+"/topology/core_siblings_list")
	core := readCPUs(sys, dir+"/topology/core_cpus_list", dir+"/topology/thread_siblings_list")
	if core == nil {
		return e
	}
	cache := largestCache(sys, dir+"/cache")
	if cache == nil {
		cache = core // virtual machines often have no caches to show, but hardware threads always share some
	}
	return [insideLevels][]int{socket, node(sys, cpu), cache, core}
}

// node is the NUMA node of a CPU.
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

// largestCache is who shares the outermost cache of a CPU.
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

// readCPUs reads the first of files that is a list of CPUs; nil if none is.
func readCPUs(sys fs.FS, files ...string) []int {
	for _, file := range files {
		if cpus, err := parseCPUs(readText(sys, file)); err == nil && len(cpus) > 0 {
			return cpus
		}
	}
	return nil
}

// readText is what is in a file, or nothing.
func readText(sys fs.FS, file string) string {
	text, err := fs.ReadFile(sys, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
