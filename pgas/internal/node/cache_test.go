package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLastCacheBytes(t *testing.T) {
	for _, c := range []struct {
		name         string
		third, inner string // the files' text; "" for none
		want         int
	}{
		{"three levels", "32768K\n", "1024K\n", 32 << 20},
		{"two levels", "", "2048K\n", 2 << 20},
		{"no number", "much\n", "1024K\n", 1 << 20},
		{"nothing", "", "", usualCache},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for index, text := range map[string]string{"index3": c.third, "index2": c.inner} {
				if text == "" {
					continue
				}
				if err := os.Mkdir(filepath.Join(dir, index), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, index, "size"), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := lastCacheBytes(dir); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}
