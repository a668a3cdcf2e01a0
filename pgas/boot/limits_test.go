package boot

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCPUQuota: the least quota of the group of this process and of those above it counts, rounded up.
func TestCPUQuota(t *testing.T) {
	for _, c := range []struct {
		own, inner, outer string
		want              int
	}{
		{"0::/a/b\n", "150000 100000", "max 100000", 2},
		{"0::/a/b\n", "max 100000", "50000 100000", 1},
		{"0::/a/b\n", "400000 100000", "200000 100000", 2},
		{"0::/\n", "100000 100000", "max 100000", 0}, // another group's
		{"12:cpu:/a/b\n", "100000 100000", "", 0},
		{"0::/a/b\n", "0 100000", "nonsense", 0},
		{"0::/a/b\n", "100000", "100000 0", 0},
		{"", "", "", 0},
	} {
		root := t.TempDir()
		for path, content := range map[string]string{"proc/self/cgroup": c.own, "sys/fs/cgroup/a/b/cpu.max": c.inner, "sys/fs/cgroup/a/cpu.max": c.outer} {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := CPUQuotaIn(root); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestSecretOfAGroup: a file of root that a group may read is accepted from a process that is not root's.
func TestSecretOfAGroup(t *testing.T) {
	for _, c := range []struct {
		owner uint32
		mode  os.FileMode
		user  int
		want  bool
	}{{0, 0o440, 65532, true}, {0, 0o640, 65532, true}, {0, 0o444, 65532, false}, {0, 0o460, 65532, false}, {65532, 0o440, 65532, false}, {0, 0o440, 0, false}} {
		if got := groupMayRead(c.owner, c.mode, c.user); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
