package main

// Jobs in a control group that limits their memory.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// memoryGroup makes a control group of 400 MiB, or skips the test.
func memoryGroup(t *testing.T) string {
	t.Helper()
	root, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(root); err != nil {
		root, file = "/sys/fs/cgroup", "memory.max"
	}
	group := filepath.Join(root, fmt.Sprint("pgasrun-test-", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("control groups cannot be made: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	// Without a limit of swap, the job would fill that first.
	if err := os.WriteFile(filepath.Join(group, file), []byte("419430400"), 0); err != nil {
		t.Skipf("control groups do not limit memory: %v", err)
	}
	_ = os.WriteFile(filepath.Join(group, "memory.swap.max"), []byte("0"), 0) // of version 2, if the host has swap
	return group
}

// TestMemoryOfAGroup: PEs that have a group's memory together have a share of it as Go's limit, and a PE that the
// kernel kills for want of it is reported as that, and not as one that somebody has killed.
func TestMemoryOfAGroup(t *testing.T) {
	group := memoryGroup(t)
	run := func(args ...string) (string, int) {
		limit, cancel := hang.Context(t.Context())
		defer cancel()
		cmd := exec.CommandContext(limit, "sh", append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec pgasrun "$@"`, group}, args...)...)
		cmd.Env = append(os.Environ(), "PGAS_HEAP_MAX=16m")
		out, _ := cmd.CombinedOutput() // the status tells
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		args []string
		want string
		exit int
	}{
		{[]string{"-v", "-n", "2", "pe", "limit"}, `control groups leave 400 MiB of memory: GOMEMLIMIT of a PE is 180 MiB unless set`, 0},
		{[]string{"-n", "2", "pe", "limit"}, `(?m)\A(memory limit 188743680\n){2}\z`, 0},
		{[]string{"-n", "2", "env", "GOMEMLIMIT=100MiB", "pe", "limit"}, `(?m)\A(memory limit 104857600\n){2}\z`, 0},
		{[]string{"-n", "2", "pe", "eat", "1"}, `(?m)^pgasrun: PE 1 on host localhost \(process [0-9]+\) was killed by signal 9 \(SIGKILL\), out of memory: the limit of its control group \(400 MiB\): set GOMEMLIMIT or PGAS_HEAP_MAX to less, or run fewer PEs on a host$`, 137},
		{[]string{"-n", "2", "pe", "die", "1", "9"}, `(?m)^pgasrun: PE 1 on host localhost \(process [0-9]+\) was killed by signal 9 \(SIGKILL\)$`, 137},
	} {
		if out, exit := run(c.args...); exit != c.exit || !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("%q: status %d\n%s", c.args, exit, out)
		}
	}
}
