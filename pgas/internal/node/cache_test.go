package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLastCacheBytes(t *testing.T) {
	for _, c := range []struct {
		name         string
		third, inner string // the text of the files that tell sizes; "" for none
		shared       string // and of the mask of each cache
		want         int
	}{
		{"three levels", "32768K\n", "1024K\n", "ff\n", 32 << 20},
		{"two levels", "", "2048K\n", "3\n", 2 << 20},
		{"no number", "much\n", "1024K\n", "1\n", 1 << 20},
		{"nothing", "", "", "", usualCache},
		{"a server", "491520K\n", "2048K\n", "ffffffff,ffffffff,ffffffff\n", 480 << 20},
		{"a part of a server", "491520K\n", "2048K\n", "3\n", 64 << 20},
		{"a part of many CPUs", "491520K\n", "2048K\n", "00000001,00000006\n", 96 << 20},
		{"no mask", "491520K\n", "2048K\n", "", 480 << 20},
		{"no mask but text", "491520K\n", "2048K\n", "all\n", 480 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for index, text := range map[string]string{"index3": c.third, "index2": c.inner} {
				if text != "" {
					writeCache(t, filepath.Join(dir, index), text, c.shared)
				}
			}
			if got := lastCacheBytes(dir); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

// writeCache writes what the kernel tells about a cache into dir.
func writeCache(t *testing.T, dir, size, shared string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"size": size, "shared_cpu_map": shared} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
