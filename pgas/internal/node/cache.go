package node

// The size of the CPUs' last cache.

import (
	"os"
	"strconv"
	"strings"
)

// usualCache is what a CPU is taken to have if the kernel does not say.
const usualCache = 32 << 20

// lastCacheBytes returns the size of the last cache of the first CPU, as the kernel has it below dir.
func lastCacheBytes(dir string) int {
	for _, index := range []string{"3", "2"} {
		text, err := os.ReadFile(dir + "/index" + index + "/size")
		if err != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K")); err == nil && n > 0 {
			return n << 10
		}
	}
	return usualCache
}
