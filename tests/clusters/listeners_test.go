package clusters

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runListeners: on a host with an interface that has nothing to do with the job, no process of a running job listens on
// it, nor on every interface. Processes of the job on the same host may have come by it.
func runListeners(t *testing.T, l *launcher) {
	needHosts(t, "ip", "ss")
	for host := range 2 {
		spare(t, host)
	}
	cmds := l.start(t, "listeners", bin+"/body", "waits")
	disturb(t, cmds, 4, func(map[int]int) {
		onlyOfTheJob(t)
		l.cancel(t, "listeners", cmds)
	})
	l.nothingLeft(t)
}

// spare gives a host another interface until the test ends.
func spare(t *testing.T, host int) {
	t.Helper()
	ip := func(args ...string) ([]byte, error) {
		return exec.Command("ip", append([]string{"-n", hosts.Names[host]}, args...)...).CombinedOutput()
	}
	for _, args := range []string{
		"link add spare type veth peer name unused", fmt.Sprintf("addr add 192.0.2.%d/24 dev spare", 1+host),
		"link set spare up", "link set unused up",
	} {
		if out, err := ip(strings.Fields(args)...); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { ip("link", "del", "spare") })
}

// ofLauncher is a socket that a launcher listens on, or a daemon of one.
var ofLauncher = regexp.MustCompile(`"(slurmstepd|srun|salloc|mpirun|orted|prterun|prted|prte)"`)

// onlyOfTheJob checks where the processes of the tests listen on both hosts. It leaves out the daemons of the
// launchers.
func onlyOfTheJob(t *testing.T) {
	t.Helper()
	var all []string
	pids := append(processes("body"), processes("pgasrun")...)
	for host := range 2 {
		out, err := exec.Command("ip", "netns", "exec", hosts.Names[host], "ss", "-ltnpH").Output()
		if err != nil {
			t.Fatalf("listing the listening sockets with ss: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if ofLauncher.MatchString(line) { // which its processes inherit
				continue
			}
			if !slices.ContainsFunc(pids, func(pid int) bool { return strings.Contains(line, fmt.Sprintf("pid=%d,", pid)) }) {
				continue
			}
			all = append(all, fields[3])
			if !strings.HasPrefix(fields[3], hosts.Addresses[host]+":") {
				t.Errorf("a process on the host with address %s listens on %s: %s", hosts.Addresses[host], fields[3], fields[len(fields)-1])
			}
		}
	}
	if len(all) < 4 { // those of UCX
		t.Errorf("the job listens on %v: the test does not look right", all)
	}
}
