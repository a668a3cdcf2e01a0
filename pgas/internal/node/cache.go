package node

// How much of the CPUs' last cache is this machine's.
//
// A virtual machine is told the size of the whole cache of a processor of which it has a few CPUs, and the machines
// that have the others use it as well. So the CPUs that share the cache are taken to have what CPUs have at most where
// none is hidden, and no more.

import (
	"math/bits"
	"os"
	"strconv"
	"strings"
)

const (
	// usualCache is what a CPU is taken to have if the kernel does not say.
	usualCache = 32 << 20
	// mostCacheOfCPU is more of a last cache than any processor has for each of its CPUs. A virtual machine of 2 CPUs
	// was told 480 MiB: its copies took twice as long from 100 MiB on.
	mostCacheOfCPU = 32 << 20
)

// lastCacheBytes returns how many bytes of the last cache of the first CPU its sharers have, as the kernel tells it
// below dir.
func lastCacheBytes(dir string) int {
	for _, index := range []string{"3", "2"} {
		if n := cacheBytes(dir + "/index" + index); n > 0 {
			return n
		}
	}
	return usualCache
}

// cacheBytes returns how many bytes of the cache in dir its sharers have, or 0 if that has no size.
func cacheBytes(dir string) int {
	text, err := os.ReadFile(dir + "/size")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil {
		return 0
	}
	if cpus := sharers(dir); cpus > 0 {
		return min(n<<10, cpus*mostCacheOfCPU)
	}
	return n << 10
}

// sharers returns how many CPUs share the cache in dir: the ones in its mask, groups of hexadecimal digits. It returns
// 0 if there is no mask.
func sharers(dir string) (n int) {
	text, err := os.ReadFile(dir + "/shared_cpu_map")
	if err != nil {
		return 0
	}
	for _, group := range strings.Split(strings.TrimSpace(string(text)), ",") {
		mask, err := strconv.ParseUint(group, 16, 64)
		if err != nil {
			return 0
		}
		n += bits.OnesCount64(mask)
	}
	return n
}
