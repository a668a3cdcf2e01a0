package main

// Jobs that are interrupted, killed and orphaned. Every process of a test's job inherits a mark in its
// environment, so that "nothing is left" can be looked up, however a process was started.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// run is one pgasrun under test.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	mark   string
	tmp    string
	lines  chan string // of standard output
	stderr capture.Output
}

var marks struct {
	sync.Mutex
	n int
}

// launchJob starts pgasrun with args.
func launchJob(t *testing.T, stdin io.Reader, args ...string) *running {
	t.Helper()
	marks.Lock()
	marks.n++
	r := &running{t: t, mark: fmt.Sprintf("TEST_JOB_MARK=%d.%d", os.Getpid(), marks.n), tmp: t.TempDir(), lines: make(chan string, 1<<16)}
	marks.Unlock()
	r.cmd = exec.Command("pgasrun", args...)
	r.cmd.Env = append(os.Environ(), r.mark, "TMPDIR="+r.tmp, "PGAS_HEAP_MAX=16m")
	r.cmd.Stdin = stdin
	r.cmd.Stderr = &r.stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		for _, pid := range r.processes() {
			unix.Kill(pid, unix.SIGKILL)
		}
	})
	return r
}

// ready waits for n lines that start with ready, and returns their second words.
func (r *running) ready(n int) []int {
	r.t.Helper()
	var pids []int
	limit, cancel := hang.Context(r.t.Context())
	defer cancel()
	for len(pids) < n {
		select {
		case line, ok := <-r.lines:
			if !ok {
				r.cmd.Wait()
				r.t.Fatalf("the job ended before %d PEs were ready: %s", n, &r.stderr)
			}
			if word, found := strings.CutPrefix(line, "ready"); found {
				pid, _ := strconv.Atoi(strings.TrimSpace(word))
				pids = append(pids, pid)
			}
		case <-limit.Done():
			r.t.Fatalf("only %d of %d PEs are ready", len(pids), n)
		}
	}
	return pids
}

// end waits for pgasrun and returns its exit status, with the rest of its output.
func (r *running) end() (status int, rest []string) {
	r.t.Helper()
	limit, cancel := hang.Context(r.t.Context())
	defer cancel()
	kill := context.AfterFunc(limit, func() { r.cmd.Process.Kill() })
	for line := range r.lines {
		rest = append(rest, line)
	}
	err := r.cmd.Wait()
	if !kill() {
		r.t.Fatalf("pgasrun did not end: %v: %s", context.Cause(limit), &r.stderr)
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.Sys().(syscall.WaitStatus).ExitStatus(), rest
	} else if err != nil {
		r.t.Fatal(err)
	}
	return 0, rest
}

// repeat sends the launcher a signal again and again, until it has ended or stop is called.
func (r *running) repeat(sig os.Signal) (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil && r.cmd.Process.Signal(sig) == nil {
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

// processes lists what runs with the mark of this job.
func (r *running) processes() []int {
	var pids []int
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range paths {
		env, err := os.ReadFile(p)
		if err == nil && bytes.Contains(env, []byte(r.mark+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(p, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// agents lists the agents among them.
func (r *running) agents() []int {
	var pids []int
	for _, pid := range r.processes() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.HasSuffix(cmdline, []byte("pgasrun\x00agent\x00")) && !bytes.Contains(cmdline, []byte("{host}")) && !bytes.HasPrefix(cmdline, []byte("setsid\x00")) && !bytes.HasPrefix(cmdline, []byte("far\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// madeHosts lists the network namespaces that pgasrun has made.
func (r *running) madeHosts() []string {
	paths, _ := filepath.Glob(fmt.Sprintf("/run/netns/pgas-%d[.\\-]*", r.cmd.Process.Pid))
	return paths
}

// nothingLeft waits until no process of the job is left, and looks for files.
func (r *running) nothingLeft() {
	r.t.Helper()
	var left []int
	limit, cancel := hang.Context(context.Background())
	defer cancel()
	for ; ; time.Sleep(5 * time.Millisecond) {
		if left = r.processes(); len(left) == 0 {
			break
		}
		if limit.Err() != nil {
			for _, pid := range left {
				cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				r.t.Errorf("process %d is left: %q", pid, cmdline)
			}
			return
		}
	}
	files, err := os.ReadDir(r.tmp)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range files {
		r.t.Errorf("file %s is left", f.Name())
	}
	if shm, _ := filepath.Glob("/dev/shm/*pgasrun*"); len(shm) > 0 {
		r.t.Errorf("shared memory is left: %q", shm)
	}
	if hosts := r.madeHosts(); len(hosts) > 0 {
		r.t.Errorf("network namespaces are left: %q", hosts)
	}
}

// places returns the ways to have hosts: this one, two that share its network, two with a network each.
func places(t *testing.T) map[string][]string {
	p := map[string][]string{
		"local": {"-n", "3"},
		"hosts": {"-hosts", "a:1,b:2", "-launch", "env FAKE={host}"},
	}
	if a, b, ok := namespaces(t); ok {
		p["namespaces"] = []string{"-hosts", a + ":1," + b + ":2", "-launch", netns.Template}
	}
	return p
}

// namespaces makes two network namespaces joined by a cable, for the time of the test.
func namespaces(t *testing.T) (a, b string, ok bool) {
	a, b = fmt.Sprintf("pgasrun%da", os.Getpid()), fmt.Sprintf("pgasrun%db", os.Getpid())
	for _, ns := range []string{a, b} {
		if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
			t.Logf("no network namespaces here: %v %s", err, out)
			return "", "", false
		}
		t.Cleanup(func() { exec.Command("ip", "netns", "delete", ns).Run() })
	}
	script := `set -e
		ip -n $0 link add cable type veth peer name cable netns $1
		ip -n $0 address add 10.99.7.1/24 dev cable
		ip -n $1 address add 10.99.7.2/24 dev cable
		ip -n $0 link set cable up
		ip -n $1 link set cable up
		ip -n $0 link set lo up`
	if out, err := exec.Command("sh", "-c", script, a, b).CombinedOutput(); err != nil {
		t.Fatalf("joining namespaces: %v %s", err, out)
	}
	return a, b, true
}

func TestExchangeAcrossNamespaces(t *testing.T) {
	a, b, ok := namespaces(t)
	if !ok {
		t.Skip("network namespaces are not allowed here")
	}
	r := launchJob(t, nil, "-hosts", a+":2,"+b+":2", "-launch", netns.Template, "pe", "exchange")
	status, out := r.end()
	if status != 0 || len(out) != 4 {
		t.Errorf("status %d, output %q: %s", status, out, &r.stderr)
	}
	r.nothingLeft()
}

// TestExchangeOfStalledAgent starts jobs whose PEs find the agent that serves the exchange stopped, and dial
// every address of its host before it answers.
func TestExchangeOfStalledAgent(t *testing.T) {
	const rounds, atOnce = 4, 5
	for range rounds {
		var jobs []*running
		for range atOnce {
			jobs = append(jobs, launchJob(t, nil, "-hosts", "a:2,b:3", "-launch", "env FAKE={host}", "pe", "exchange-stalled"))
		}
		for _, r := range jobs {
			if status, out := r.end(); status != 0 || len(out) != 5 {
				t.Errorf("status %d, output %q: %s", status, out, &r.stderr)
			}
			r.nothingLeft()
		}
	}
}

// TestKill kills each kind of process in turn; all the others must go.
func TestKill(t *testing.T) {
	victims := map[string]struct {
		pick   func(r *running, pes []int) int
		status int    // of pgasrun
		says   string // on standard error
	}{
		"launcher": {func(r *running, pes []int) int { return r.cmd.Process.Pid }, -1, ""},
		"agent":    {func(r *running, pes []int) int { return r.agents()[0] }, 1, "; its PEs are lost"},
		"PE":       {func(r *running, pes []int) int { return pes[1] }, 128 + 9, "was killed by signal 9 (SIGKILL)"},
	}
	for place, flags := range places(t) {
		for victim, want := range victims {
			t.Run(place+"/"+victim, func(t *testing.T) {
				// Each PE has a child in a session of its own, which nothing but a sweep reaches.
				r := launchJob(t, nil, append(flags, "pe", "orphan", "stay")...)
				pes := r.ready(3)
				if err := unix.Kill(want.pick(r, pes), unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
				status, _ := r.end()
				if status != want.status || !strings.Contains(r.stderr.String(), want.says) {
					t.Errorf("status %d, want %d; it says %q", status, want.status, &r.stderr)
				}
				r.nothingLeft()
			})
		}
	}
}

// agentOf returns the agent of a PE.
func agentOf(t *testing.T, pe int) int { return parentOf(t, pe) }

// parentOf returns the parent of a process.
func parentOf(t *testing.T, pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		t.Fatal(err)
	}
	return parent
}

// TestKillLauncherAndAgents kills launcher and agents at once: the processes that PEs have started end too,
// although they have a session of their own and a clean environment.
func TestKillLauncherAndAgents(t *testing.T) {
	for place, flags := range places(t) {
		t.Run(place, func(t *testing.T) {
			r := launchJob(t, nil, append(flags, "pe", "orphan", "stay", "clean")...)
			victims := map[int]bool{r.cmd.Process.Pid: true}
			for _, pe := range r.ready(3) {
				victims[agentOf(t, pe)] = true
			}
			// They are stopped first, so that none sees another end.
			for _, sig := range []syscall.Signal{unix.SIGSTOP, unix.SIGKILL} {
				for pid := range victims {
					if err := unix.Kill(pid, sig); err != nil {
						t.Error(err)
					}
				}
			}
			r.end()
			r.nothingLeft()
		})
	}
}

// TestStoppedAgent: one request to end is enough even if an agent is stopped.
func TestStoppedAgent(t *testing.T) {
	for place, flags := range places(t) {
		t.Run(place, func(t *testing.T) {
			r := launchJob(t, nil, append(flags, "pe", "orphan", "stay")...)
			for _, pe := range r.ready(3) {
				unix.Kill(agentOf(t, pe), unix.SIGSTOP)
			}
			r.cmd.Process.Signal(unix.SIGTERM)
			if place == "namespaces" {
				stop := r.repeat(unix.SIGTERM) // the first does not continue an agent in a session of its own
				defer stop()
			}
			if status, _ := r.end(); status != 128+15 {
				t.Errorf("status %d: %s", status, &r.stderr)
			}
			r.nothingLeft()
		})
	}
}

// TestKillWrapped kills the shell between an agent and its PE.
func TestKillWrapped(t *testing.T) {
	r := launchJob(t, nil, "-n", "2", "sh", "-c", "echo ready $$; pe hang; true")
	pes := r.ready(4)
	unix.Kill(pes[0], unix.SIGKILL)
	if status, _ := r.end(); status != 128+9 {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
	r.nothingLeft()
}

func TestOrphansOfJobThatEndsWell(t *testing.T) {
	r := launchJob(t, nil, "-n", "3", "pe", "orphan")
	if status, _ := r.end(); status != 0 || r.stderr.Len() != 0 {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
	r.nothingLeft()
}

// TestKillWhileNobodyReads kills the launcher of a job that is stuck writing.
func TestKillWhileNobodyReads(t *testing.T) {
	r := launchJob(t, nil, "-n", "2", "sh", "-c", "echo ready; exec yes")
	r.ready(2)
	r.cmd.Process.Kill()
	r.nothingLeft()
	r.end()
}

func TestSignals(t *testing.T) {
	const stubborn = `trap "echo ready" INT TERM; echo ready; while :; do sleep 0.05; done`
	const polite = `trap "echo bye; exit 0" INT; echo ready; while :; do sleep 0.05; done`
	const told = `trap "echo told; exit 0" USR1; echo ready; while :; do sleep 0.05; done`
	tests := map[string]struct {
		script  string
		signals []syscall.Signal
		status  int
		says    []string
	}{
		"interrupt":        {"echo ready; exec sleep 1000", []syscall.Signal{unix.SIGINT}, 128 + 2, nil},
		"terminate":        {"echo ready; exec sleep 1000", []syscall.Signal{unix.SIGTERM}, 128 + 15, nil},
		"handled":          {polite, []syscall.Signal{unix.SIGINT}, 0, []string{"bye", "bye"}},
		"user signal":      {told, []syscall.Signal{unix.SIGUSR1}, 0, []string{"told", "told"}},
		"ignored, kill":    {stubborn, []syscall.Signal{unix.SIGINT, unix.SIGINT}, 128 + 2, nil},
		"other, then kill": {stubborn, []syscall.Signal{unix.SIGTERM, unix.SIGINT}, 128 + 2, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := launchJob(t, nil, "-n", "2", "sh", "-c", tt.script)
			r.ready(2)
			r.cmd.Process.Signal(tt.signals[0])
			stop := func() {}
			if len(tt.signals) > 1 {
				// The first has arrived: of two that are pending, either may come first, and two of a kind are one.
				r.ready(2)
				stop = r.repeat(tt.signals[1])
			}
			status, out := r.end()
			stop()
			if status != tt.status || fmt.Sprint(out) != fmt.Sprint(tt.says) || strings.Contains(r.stderr.String(), "pgasrun:") {
				t.Errorf("status %d, want %d; output %q; it says %s", status, tt.status, out, &r.stderr)
			}
			r.nothingLeft()
		})
	}
}

// TestAgentSignalled: a signal to an agent, or to its guard, is a request to end, as one to the launcher is. The PEs
// end by themselves. TestSignalEcho has both signalled at once.
func TestAgentSignalled(t *testing.T) {
	for name, victim := range map[string]func(agent int) int{
		"agent": func(agent int) int { return agent },
		"guard": func(agent int) int { return parentOf(t, agent) },
	} {
		t.Run(name, func(t *testing.T) {
			r := launchJob(t, nil, "-n", "2", "sh", "-c", `trap "echo bye; exit 0" TERM; echo ready $$; while :; do sleep 0.05; done`)
			agent := agentOf(t, r.ready(2)[0])
			if err := unix.Kill(victim(agent), unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			status, out := r.end()
			if status != 0 || fmt.Sprint(out) != "[bye bye]" || strings.Contains(r.stderr.String(), "pgasrun:") {
				t.Errorf("status %d; output %q; it says %s", status, out, &r.stderr)
			}
			r.nothingLeft()
		})
	}
}

// TestTeachesToKill: the launcher shows PEs that a signal does not end, and how to end them.
func TestTeachesToKill(t *testing.T) {
	r := launchJob(t, nil, "-n", "2", "sh", "-c", `trap "" INT; echo ready; while :; do sleep 0.1; done`)
	r.ready(2)
	r.cmd.Process.Signal(unix.SIGINT)
	const want = "pgasrun: the PEs have got interrupt, and some still run: a second signal kills them\n" +
		"pgasrun: what each PE is doing:\n    PE 0-1: computing\n"
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for !strings.Contains(r.stderr.String(), want) && limit.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	r.cmd.Process.Signal(unix.SIGINT)
	if status, _ := r.end(); status != 128+2 || r.stderr.String() != want {
		t.Errorf("status %d; it says %s", status, &r.stderr)
	}
	r.nothingLeft()
}

// TestTimeout: a job that hangs is ended in time, and says where it hung. The time grows until it is enough for the
// start of PEs: what they then say does not depend on it.
func TestTimeout(t *testing.T) {
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for most := 400 * time.Millisecond; ; most *= 4 {
		r := launchJob(t, nil, "-n", "4", "-timeout", most.String(), "pe", "hang")
		status, _ := r.end()
		says := r.stderr.String()
		ended := fmt.Sprintf("pgasrun: the job has run for %v, the most that -timeout allows; ended it\n", most)
		if status == 0 || strings.Count(says, ended) != 1 {
			t.Fatalf("status %d; it says %s", status, says)
		}
		r.nothingLeft()
		if strings.Contains(says, "pgasrun: what each PE is doing:\n    PE 0-3: in barrier number 7, for ") {
			return
		}
		if limit.Err() != nil {
			t.Fatalf("it never says where it hung: %s", says)
		}
	}
}

// TestTable asks what the PEs are blocked in, which does not end the job.
func TestTable(t *testing.T) {
	said, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command("pgasrun", "-hosts", "a:1,b:2", "-launch", "env FAKE={host}", "pe", "hang")
	cmd.Stderr = w
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	defer context.AfterFunc(limit, func() { cmd.Process.Kill() })()
	lines := bufio.NewScanner(out)
	for i := 0; i < 3 && lines.Scan(); i++ {
	}
	text := bufio.NewReader(said)
	const want = "    PE 0-2: in barrier number 7, for "
	for round := range 2 {
		var line string
		// A PE says ready before it is blocked: ask until all are.
		for !strings.HasPrefix(line, want) {
			cmd.Process.Signal(unix.SIGQUIT)
			for line = "pgasrun"; strings.HasPrefix(line, "pgasrun"); {
				if line, err = text.ReadString('\n'); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		}
	}
	cmd.Process.Signal(unix.SIGTERM)
	if err := cmd.Wait(); err == nil {
		t.Error("a terminated job ended well")
	}
}

// TestWholeLines has eight PEs print at once.
func TestWholeLines(t *testing.T) {
	const pes, lines = 8, 400
	r := launchJob(t, nil, "-n", strconv.Itoa(pes), "pe", "burst", strconv.Itoa(lines))
	status, out := r.end()
	if status != 0 || len(out) != pes*lines {
		t.Fatalf("status %d, %d lines, want %d", status, len(out), pes*lines)
	}
	for _, line := range out {
		if !fullLine([]byte(line)) {
			t.Fatalf("torn line %q", line)
		}
	}
	r.nothingLeft()
}

// TestLongInput sends more than any buffer holds through PE 0, while another PE never reads.
func TestLongInput(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	r := launchJob(t, strings.NewReader(text.String()), "-n", "2", "pe", "cat")
	status, out := r.end()
	if status != 0 || strings.Join(out, "\n")+"\n" != text.String() {
		t.Errorf("status %d, %d lines came back: %s", status, len(out), &r.stderr)
	}
}

// TestInputNotRead: the job ends although PE 0 never takes its input.
func TestInputNotRead(t *testing.T) {
	endless, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer endless.Close()
	go func() {
		defer w.Close()
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
	r := launchJob(t, endless, "-n", "2", "sh", "-c", "echo ready; exec sleep 1000")
	r.ready(2)
	r.cmd.Process.Signal(unix.SIGTERM)
	if status, _ := r.end(); status != 128+15 {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
	r.nothingLeft()
}

// TestExchangeOutlivesFirstHost: the exchange is served until the last host needs it no more.
func TestExchangeOutlivesFirstHost(t *testing.T) {
	r := launchJob(t, nil, "-hosts", "a:1,b:1", "-launch", "env FAKE={host}", "pe", "late")
	r.ready(1)
	first := r.agents()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for ; len(r.processes()) > 6; time.Sleep(time.Millisecond) {
		if limit.Err() != nil {
			t.Fatal("PE 0 does not end")
		}
	}
	if got := r.agents(); len(got) != len(first) {
		t.Errorf("agents %v, then %v", first, got)
	}
	if err := os.WriteFile(filepath.Join(r.tmp, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out := r.end(); status != 0 || len(out) != 1 {
		t.Errorf("status %d, output %q: %s", status, out, &r.stderr)
	}
	os.Remove(filepath.Join(r.tmp, "go"))
	r.nothingLeft()
}

// TestKeepGoing: with -keep-going the others are not ended, and one line says what they can do: they use the memory of
// each other, and whatever has to wait returns the error, as the line says.
func TestKeepGoing(t *testing.T) {
	r := launchJob(t, nil, "-n", "3", "-keep-going", "./testdata/survivors")
	var lines []string
	for line := range r.lines {
		lines = append(lines, line)
	}
	if err := r.cmd.Wait(); r.cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the job ended with %v: %s", err, &r.stderr)
	}
	for pe := range 2 {
		if want := fmt.Sprintf("PE %d went on, until ctx: <nil>", pe); !slices.Contains(lines, want) {
			t.Errorf("no %q in %q %s", want, lines, &r.stderr)
		}
	}
	const says = "pgasrun: -keep-going: PE 2 has failed, and the others run on: they compute and access the memory of those that are left, and whatever has to wait returns the error\n"
	if n := strings.Count(r.stderr.String(), says); n != 1 {
		t.Errorf("%d lines say what -keep-going does: %s", n, &r.stderr)
	}
}
