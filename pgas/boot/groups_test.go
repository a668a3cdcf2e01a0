package boot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSystem writes files, by their paths without the first slash, and returns the root that they are in.
func fakeSystem(t *testing.T, root string, files map[string]string) string {
	t.Helper()
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

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
		{"12:cpuset:/a/b\n", "100000 100000", "", 0},
		{"0::/a/b\n", "0 100000", "nonsense", 0},
		{"0::/a/b\n", "100000", "100000 0", 0},
		{"", "", "", 0},
	} {
		root := fakeSystem(t, t.TempDir(), map[string]string{
			"proc/self/cgroup": c.own, "sys/fs/cgroup/a/b/cpu.max": c.inner, "sys/fs/cgroup/a/cpu.max": c.outer,
		})
		if got := CPUQuotaIn(root); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestCPUQuotaOfVersion1: the first version of control groups has a tree for each controller, and quota and period in
// two files.
func TestCPUQuotaOfVersion1(t *testing.T) {
	for _, c := range []struct {
		own, quota, period string
		want               int
	}{
		{"4:cpu,cpuacct:/a\n1:name=systemd:/\n0::/\n", "150000", "100000", 2},
		{"4:cpuacct,cpu:/a\n", "-1", "100000", 0},
		{"4:cpu,cpuacct:/of/the/host\n", "-1", "100000", 0},
		{"4:cpuset:/a\n", "150000", "100000", 0},
	} {
		root := fakeSystem(t, t.TempDir(), map[string]string{
			"proc/self/cgroup": c.own, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": c.quota, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": c.period,
		})
		if got := CPUQuotaIn(root); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// memoryTrees are a control group of 400 MiB inside one without a limit, in both versions.
var memoryTrees = map[string]map[string]string{
	"version 1": {
		"proc/self/cgroup": "4:memory:/a/b\n0::/\n", "proc/vmstat": "nr_free 1\noom_kill 7",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712", "sys/fs/cgroup/memory/memory.failcnt": "0",
		"sys/fs/cgroup/memory/memory.oom_control":      "oom_kill_disable 0\nunder_oom 0\noom_kill 0",
		"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "419430400", "sys/fs/cgroup/memory/a/memory.failcnt": "3",
		"sys/fs/cgroup/memory/a/memory.oom_control":      "oom_kill_disable 0\nunder_oom 0\noom_kill 0",
		"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712", "sys/fs/cgroup/memory/a/b/memory.failcnt": "0",
		"sys/fs/cgroup/memory/a/b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2",
	},
	"version 2": {
		"proc/self/cgroup": "0::/a/b\n", "proc/vmstat": "nr_free 1\noom_kill 7",
		"sys/fs/cgroup/a/memory.max": "419430400", "sys/fs/cgroup/a/memory.events": "max 9\noom 3\noom_kill 2",
		"sys/fs/cgroup/a/b/memory.max": "max", "sys/fs/cgroup/a/b/memory.events": "max 0\noom 0\noom_kill 2",
	},
}

// TestMemoryKills: a kill by the kernel is told from another one, and that of a group's limit from that of the host.
func TestMemoryKills(t *testing.T) {
	hit := map[string]map[string]string{
		"version 1": {"sys/fs/cgroup/memory/a/memory.failcnt": "5"},
		"version 2": {"sys/fs/cgroup/a/memory.events": "max 9\noom 4\noom_kill 3"},
	}
	killed := map[string]map[string]string{
		"version 1": {"sys/fs/cgroup/memory/a/b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3"},
		"version 2": {"sys/fs/cgroup/a/b/memory.events": "max 0\noom 0\noom_kill 3"},
	}
	for name, tree := range memoryTrees {
		t.Run(name, func(t *testing.T) {
			root := fakeSystem(t, t.TempDir(), tree)
			if limit, ok := memoryGroupsIn(root).limit(); limit != 400<<20 || !ok {
				t.Errorf("a limit of %d, %v", limit, ok)
			}
			m := countMemoryKillsIn(root)
			expect := func(prefix string) {
				t.Helper()
				if got := m.Explain(); !strings.HasPrefix(got, prefix) || prefix == "" && got != "" {
					t.Errorf("%q", got)
				}
			}
			expect("")
			fakeSystem(t, root, map[string]string{"proc/vmstat": "nr_free 1\noom_kill 8"})
			expect("probably out of memory: the kernel has killed a process of its host")
			expect("") // that one is explained

			fakeSystem(t, root, map[string]string{"proc/vmstat": "nr_free 1\noom_kill 9"})
			fakeSystem(t, root, killed[name])
			expect("out of memory: its host has ")
			expect("")
			fakeSystem(t, root, map[string]string{"proc/vmstat": "nr_free 1\noom_kill 10"})
			fakeSystem(t, root, hit[name])
			expect("out of memory: the limit of its control group (400 MiB): set GOMEMLIMIT")
			expect("")
		})
	}
}
