package clusters

// Disturbing a running job, and what must be left of it: nothing.

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// readyLine is what a PE prints when it can be disturbed.
var readyLine = regexp.MustCompile(`^PE (\d+) is ready in process (\d+)`)

// disturb starts a job whose PEs say that they are ready, calls what with the process of each when n have, and returns
// how the job ended.
func disturb(t *testing.T, cmds []*exec.Cmd, n int, what func(pids map[int]int)) outcome {
	t.Helper()
	w := &watched{pids: map[int]int{}, n: n, ready: make(chan struct{})}
	var running sync.WaitGroup
	for _, cmd := range cmds {
		cmd.Stdout, cmd.Stderr = &lineWriter{to: w.line}, &lineWriter{to: w.errLine}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { cmd.Wait() })
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	select {
	case <-w.ready:
		what(w.pids)
	case <-ended:
	}
	<-ended
	o := w.outcome()
	for _, cmd := range cmds {
		o.status = worse(o.status, cmd.ProcessState.ExitCode())
	}
	if len(w.pids) < n {
		t.Errorf("%d of %d PEs were ready: %v", len(w.pids), n, o)
	}
	return o
}

// watched collects the lines that a job prints.
type watched struct {
	mu        sync.Mutex
	out, errs bytes.Buffer
	pids      map[int]int // by PE; not written any more once ready is closed
	n         int
	ready     chan struct{}
}

func (w *watched) line(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.WriteString(text)
	if m := readyLine.FindStringSubmatch(text); m != nil && len(w.pids) < w.n {
		pe, _ := strconv.Atoi(m[1])
		w.pids[pe], _ = strconv.Atoi(m[2])
		if len(w.pids) == w.n {
			close(w.ready)
		}
	}
}

func (w *watched) errLine(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs.WriteString(text)
}

func (w *watched) outcome() outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	return outcome{out: w.out.String(), errs: w.errs.String()}
}

// lineWriter passes on whole lines, as several commands print at once.
type lineWriter struct {
	to   func(line string)
	rest []byte
}

func (l *lineWriter) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		l.to(string(line) + "\n")
		l.rest = rest
	}
}

// processes returns those of the tests' processes that run a program of this name.
func processes(name string) (pids []int) {
	for _, pid := range marked() {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if strings.HasPrefix(nameOf(pid), name) || filepath.Base(exe) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

func nameOf(pid int) string {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(comm))
}

func parentOf(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nPPid:")
	line, _, _ := strings.Cut(rest, "\n")
	parent, _ := strconv.Atoi(strings.TrimSpace(line))
	return parent
}

// killAncestor kills the nearest ancestor of a process that runs a program of this name.
func killAncestor(t *testing.T, pid int, name string) {
	t.Helper()
	at := parentOf(pid)
	for at > 1 && nameOf(at) != name {
		at = parentOf(at)
	}
	if at <= 1 {
		t.Errorf("process %d does not descend from a %s", pid, name)
		return
	}
	syscall.Kill(at, syscall.SIGKILL)
}

// awaitEnd waits until none of the PEs runs.
func awaitEnd(t *testing.T, pids map[int]int) {
	t.Helper()
	var left []string
	err := await(func() bool {
		left = nil
		run := processes("body")
		for pe, pid := range pids {
			if slices.Contains(run, pid) {
				left = append(left, fmt.Sprint("PE ", pe, " in process ", pid))
			}
		}
		return len(left) == 0
	})
	if err != nil {
		t.Errorf("still run although the daemon was killed: %v", left)
	}
}

// nothingLeft waits until no process of a job, or of its launcher, is left.
func nothingLeft(t *testing.T) {
	t.Helper()
	noneLeft(t, "body", "wordcount", "pgasrun", "pgas-guard", "orted", "prted", "prte", "mpirun", "prun", "srun", "salloc")
}

// noneLeft waits until none of the tests' processes runs a program of these names.
func noneLeft(t *testing.T, names ...string) {
	t.Helper()
	var left []string
	err := await(func() bool {
		left = nil
		for _, name := range names {
			for _, pid := range processes(name) {
				left = append(left, fmt.Sprint(name, " ", pid))
			}
		}
		return len(left) == 0
	})
	if err != nil {
		t.Errorf("left behind: %v", left)
	}
}
