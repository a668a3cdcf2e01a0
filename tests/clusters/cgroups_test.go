package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// enter runs its arguments from the second on, in the control group that the first names.
const enter = `#!/bin/sh
echo $$ >"$1/cgroup.procs" || exit
shift
exec "$@"
`

// TestControlGroups: a job whose hosts are control groups that share CPUs makes progress, as Slurm, systemd and pods
// run it. The kernel shares the CPUs out by group, and a yield does not leave a group: a waiter that only yields can
// keep the PE that it waits for from running (ucx/engine/progress.c).
func TestControlGroups(t *testing.T) {
	needHosts(t)
	script := filepath.Join(t.TempDir(), "enter")
	if err := os.WriteFile(script, []byte(enter), 0o700); err != nil {
		t.Fatal(err)
	}
	for host := range 2 {
		group := controlGroup(t, fmt.Sprint("pgas-", filepath.Base(dir), "-", hosts.Names[host]))
		t.Cleanup(func() { os.Remove(group) })
	}
	root := controlGroups()
	launch := script + " " + root + "/pgas-" + filepath.Base(dir) + "-{host} nsenter --net=/run/netns/{host}"
	for range 5 {
		cmd := onHost(hangContext(t), 0, bin+"/pgasrun", "-launch", launch, "-hosts", hosts.Names[0]+":2,"+hosts.Names[1]+":2",
			bin+"/gups", "-log", "18")
		expect(t, run(t, cmd), 0, "all words are right")
	}
	nothingLeft(t)
}

// controlGroups returns the directory of the groups that share out the CPUs.
func controlGroups() string {
	const v1, v2 = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"
	if _, err := os.Stat(v1 + "/cpu.shares"); err == nil {
		return v1
	}
	return v2
}

// controlGroup makes a group, or skips the test.
func controlGroup(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(controlGroups(), name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Skipf("control groups cannot be made: %v", err)
	}
	if _, err := os.Stat(filepath.Join(path, "cgroup.procs")); err != nil {
		os.Remove(path)
		t.Skipf("%s is not a directory of control groups", controlGroups())
	}
	return path
}
