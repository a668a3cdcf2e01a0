package main

// What a job on hosts made of network namespaces leaves behind, however it ends: nothing, or what the next one removes.

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

func needNetns(t *testing.T) {
	t.Helper()
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
}

// TestNetnsEnds: hosts go with the job, whether its PEs end well, one is killed, or pgasrun gets a signal.
func TestNetnsEnds(t *testing.T) {
	needNetns(t)
	tests := map[string]struct {
		args   []string
		signal syscall.Signal // to pgasrun, when all PEs are ready
		status int
	}{
		"well":        {[]string{"-netns", "2x2", "pe", "exchange"}, 0, 0},
		"killed PE":   {[]string{"-netns", "2x2", "pe", "die", "3", "9"}, 0, 128 + 9},
		"failed PE":   {[]string{"-netns", "2x1", "pe", "exit", "0", "5"}, 0, 5},
		"timeout":     {[]string{"-timeout", "1ms", "-netns", "2x1", "pe", "hang"}, 0, statusTimeout},
		"no program":  {[]string{"-netns", "2x1", "/nosuch/program"}, 0, statusFailed},
		"interrupted": {[]string{"-netns", "2x1", "pe", "hang"}, unix.SIGINT, 128 + int(unix.SIGINT)},
		"terminated":  {[]string{"-netns", "2x1", "pe", "hang"}, unix.SIGTERM, 128 + int(unix.SIGTERM)},
		"hung up":     {[]string{"-netns", "2x1", "pe", "hang"}, unix.SIGHUP, 128 + int(unix.SIGHUP)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := launchJob(t, nil, tt.args...)
			if tt.signal != 0 {
				r.ready(2)
				if len(r.madeHosts()) != 3 {
					t.Errorf("two hosts and a bridge are %q", r.madeHosts())
				}
				r.cmd.Process.Signal(tt.signal)
			}
			if status, _ := r.end(); status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, &r.stderr)
			}
			r.nothingLeft()
		})
	}
}

// TestNetnsAtOnce: jobs that run at once have hosts of their own, under the same addresses.
func TestNetnsAtOnce(t *testing.T) {
	needNetns(t)
	first, second := launchJob(t, nil, "-netns", "2x1", "pe", "hang"), launchJob(t, nil, "-netns", "2x1", "pe", "hang")
	first.ready(2)
	second.ready(2)
	third := launchJob(t, nil, "-netns", "2x2", "pe", "exchange") // its sweep spares the others' hosts
	if status, out := third.end(); status != 0 || len(out) != 4 {
		t.Errorf("status %d, output %q: %s", status, out, &third.stderr)
	}
	third.nothingLeft()
	for _, r := range []*running{first, second} {
		if len(r.madeHosts()) != 3 {
			t.Errorf("the hosts of a job that runs are %q", r.madeHosts())
		}
		r.cmd.Process.Signal(unix.SIGTERM)
		r.end()
		r.nothingLeft()
	}
}

// TestNetnsKilledLauncher: what a killed pgasrun leaves, the next one removes.
func TestNetnsKilledLauncher(t *testing.T) {
	needNetns(t)
	killed := launchJob(t, nil, "-netns", "2x1", "pe", "hang")
	killed.ready(2)
	killed.cmd.Process.Kill()
	killed.end()
	next := launchJob(t, nil, "-netns", "2x1", "pe", "hello")
	if status, out := next.end(); status != 0 || len(out) != 2 {
		t.Errorf("status %d, output %q: %s", status, out, &next.stderr)
	}
	next.nothingLeft()
	killed.nothingLeft()
}

// TestNetnsUnread: pgasrun ends with status 141, as of SIGPIPE, when nobody reads its output; its hosts go, too.
func TestNetnsUnread(t *testing.T) {
	needNetns(t)
	cmd := exec.Command("pgasrun", "-netns", "2x1", "pe", "burst", "100000")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('>'); err != nil {
		t.Error(err)
	}
	out.Close()
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 128+int(unix.SIGPIPE) {
		t.Errorf("status %d", status)
	}
	if left := (&running{cmd: cmd}).madeHosts(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestNetnsSignalledWhileMaking: a signal between two steps of the making ends it, and undoes the steps.
func TestNetnsSignalledWhileMaking(t *testing.T) {
	needNetns(t)
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *'-net -batch -') touch %[1]s/there; until [ -e %[1]s/go ]; do sleep 0.01; done ;; esac\nexec %[2]s \"$@\"\n", dir, ip)
	if err := os.WriteFile(filepath.Join(dir, "ip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := launchJob(t, nil, "-netns", "2x1", "pe", "hello")
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for !exists(dir + "/there") {
		if limit.Err() != nil || len(r.lines) > 0 {
			t.Fatal("pgasrun has not given the bridge its links by the ip of this test")
		}
		time.Sleep(time.Millisecond)
	}
	r.cmd.Process.Signal(unix.SIGTERM)
	time.Sleep(10 * time.Millisecond) // most likely pgasrun has taken it by now; if not, it ends the job
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	status, out := r.end()
	if said := r.stderr.String(); status == 0 || !strings.Contains(said, "stopped by") && !strings.Contains(said, "SIGTERM") {
		t.Errorf("status %d, output %q: %s", status, out, said)
	}
	r.nothingLeft()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestNetnsWithoutIP: where there is no ip(8), or no root, there is one line with the remedy.
func TestNetnsWithoutIP(t *testing.T) {
	self, err := exec.LookPath("pgasrun")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(self))
	r := launchJob(t, nil, "-netns", "2x1", "pe", "hello")
	status, out := r.end()
	remedy := "install iproute2"
	if os.Geteuid() != 0 {
		remedy = "sudo"
	}
	if said := r.stderr.String(); status != statusFailed || len(out) != 0 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "pgasrun: -netns 2x1: network namespaces need ") || !strings.Contains(said, remedy) {
		t.Errorf("status %d, output %q: %s", status, out, said)
	}
}

func TestPlaceNetns(t *testing.T) {
	tests := map[string][]int{ // the PEs of each host
		"-netns 2x3":      {3, 3},
		"-netns 3":        {1, 1, 1},
		"-netns 3 -n 5":   {1, 2, 2},
		"-netns 2x2 -n 4": {2, 2},
		"-netns 1x4":      {4},
	}
	for args, want := range tests {
		o, err := parseJob(append(strings.Fields(args), "program"))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		hosts, err := o.place()
		var pes []int
		for _, h := range hosts {
			pes = append(pes, h.PEs)
		}
		if err != nil || !slices.Equal(pes, want) || o.template != netns.Template {
			t.Errorf("%s: %v, %v, template %q", args, pes, err, o.template)
		}
	}
}
