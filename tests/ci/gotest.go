package main

// Running go test without a limit by the clock. Every package reports its tests as they begin and end
// (go test -json); a package that reports nothing for long, not counting what the machine's load takes, hangs:
// it gets SIGQUIT to print its stacks, and its other processes are killed. The output of a test is shown only
// if the test fails.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// quietLimit is far above the time that any test should take on an idle machine without a report.
const quietLimit = 6 * time.Minute

// slowest is how many of the slowest tests a run names.
const slowest = 8

func goTestRun(ctx context.Context, out io.Writer, env, argv []string, limit time.Duration) (*summary, error) {
	return goTestRunIn(ctx, "", out, env, argv, limit)
}

// goTestRunIn runs a command that prints what go test -json does, in dir.
func goTestRunIn(ctx context.Context, dir string, out io.Writer, env, argv []string, limit time.Duration) (*summary, error) {
	fmt.Fprintln(out, "$ "+shellLine(env, argv))
	cmd := command(ctx, argv...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = laneOf(ctx).stderr()
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := newSummary(out)
	done := make(chan struct{})
	hung := make(chan string, 1)
	go func() {
		defer close(done)
		s.read(pipe)
	}()
	go s.watch(done, limit, func(pkg string) {
		hung <- pkg
		quitTests(cmd.Process.Pid, path.Base(pkg)+".test")
	})
	<-done
	err = cmd.Wait()
	countCPU(ctx, cmd)
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	s.close()
	select {
	case pkg := <-hung:
		return s, fmt.Errorf("%s hangs: it has reported nothing for %v, not counting what the load of this machine took; its stacks are above", pkg, limit)
	default:
		return s, err
	}
}

// testName is a test of a package; with no name, the package.
type testName struct{ pkg, test string }

// summary turns the events of go test into short output.
type summary struct {
	out io.Writer

	mu      sync.Mutex
	printed map[testName][]string  // by tests that have not ended
	running map[string]*hang.Clock // by package: the time since its last event
	times   []testTime
	failed  []string

	packages       map[string]*packageRun
	failedPackages []string
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, printed: map[testName][]string{}, running: map[string]*hang.Clock{}, packages: map[string]*packageRun{}}
}

type testTime struct {
	name    string
	seconds float64
}

func (s *summary) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil && e.Action != "" {
			s.take(e)
		} else if len(line) > 0 {
			s.out.Write(line) // of the go command itself
		}
		if err != nil {
			return
		}
	}
}

func (s *summary) take(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := testName{e.Package, e.Test}
	if e.Package != "" {
		s.running[e.Package] = hang.NewClock()
		if s.packages[e.Package] == nil {
			s.packages[e.Package] = &packageRun{how: map[string]string{}}
		}
		s.packages[e.Package].note(e, s.printed[name])
	}
	switch e.Action {
	case "output", "build-output":
		if e.Test == "" {
			s.packageSays(e.Output)
			return
		}
		s.printed[name] = append(s.printed[name], e.Output)
	case "pass", "skip", "fail":
		s.end(e, name)
	}
}

// packageSays prints a package's output outside its tests, without the last line of go test.
func (s *summary) packageSays(text string) {
	if text != "PASS\n" && text != "FAIL\n" && !strings.Contains(text, "[no test files]") {
		io.WriteString(s.out, text)
	}
}

func (s *summary) end(e event, name testName) {
	if e.Action == "fail" {
		for _, text := range s.printed[name] {
			io.WriteString(s.out, text)
		}
		s.failed = append(s.failed, strings.TrimSpace(e.Package+" "+e.Test))
	}
	delete(s.printed, name)
	if e.Test == "" {
		s.endPackage(e)
	} else if !strings.Contains(e.Test, "/") {
		s.times = append(s.times, testTime{e.Package + " " + e.Test, e.Elapsed})
	}
}

// endPackage forgets what tests of a package have printed that had no event at their end, if the package passes:
// benchmarks have none.
func (s *summary) endPackage(e event) {
	delete(s.running, e.Package)
	switch e.Action {
	case "fail":
		s.failedPackages = append(s.failedPackages, e.Package)
	case "pass":
		maps.DeleteFunc(s.printed, func(name testName, _ []string) bool { return name.pkg == e.Package })
	}
}

// watch calls ended for the first package that is silent for too long.
func (s *summary) watch(done <-chan struct{}, limit time.Duration, ended func(pkg string)) {
	every := time.NewTicker(min(500*time.Millisecond, limit/4))
	defer every.Stop()
	for {
		select {
		case <-done:
			return
		case <-every.C:
		}
		if pkg := s.silent(limit); pkg != "" {
			ended(pkg)
			return
		}
	}
}

func (s *summary) silent(limit time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for pkg, clock := range s.running {
		if clock.Counted() > limit {
			return pkg
		}
	}
	return ""
}

// close prints the output of tests that never ended, the slowest tests, and the failed ones.
func (s *summary) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, said := range s.printed {
		fmt.Fprintf(s.out, "--- %s %s had not ended; it had printed:\n%s", name.pkg, name.test, strings.Join(said, ""))
	}
	slices.SortFunc(s.times, func(a, b testTime) int { return int(1000 * (b.seconds - a.seconds)) })
	for i, t := range s.times[:min(slowest, len(s.times))] {
		if i == 0 {
			fmt.Fprintln(s.out, "slowest tests:")
		}
		fmt.Fprintf(s.out, "  %6.1f s  %s\n", t.seconds, t.name)
	}
	if len(s.failed) > 0 {
		fmt.Fprintf(s.out, "failed:\n  %s\n", strings.Join(s.failed, "\n  "))
	}
}

// quitTests makes the test binary of that name below process root print its stacks, and kills root's other descendants.
func quitTests(root int, name string) {
	for _, pid := range below(root) {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(comm), name) {
			syscall.Kill(pid, syscall.SIGQUIT)
		}
	}
	time.Sleep(2 * time.Second) // for the stacks to arrive
	syscall.Kill(-root, syscall.SIGKILL)
}

// below lists root's descendants, parents first.
func below(root int) []int {
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i]))
		for _, file := range threads {
			children, _ := os.ReadFile(file) // a thread that has ended has none
			for _, field := range strings.Fields(string(children)) {
				if pid, err := strconv.Atoi(field); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids[1:]
}
