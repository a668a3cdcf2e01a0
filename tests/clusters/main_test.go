// Package clusters starts programs with the launchers that clusters have: slurmctld, slurmd and munged, and mpirun, all
// of them real, on two hosts that are network namespaces. The same bodies run under each (body/main.go).
//
// One Slurm cluster with one allocation serves all tests of this package, which run one after the other.
//
//ci:below clusters
package clusters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/tests/built"
)

// What needHosts makes for all tests.
var (
	hosts  *netns.Hosts // three; the third is for what a job's host is not
	dir    string       // of everything that the tests write; it marks their processes, too
	bin    string       // body, gups, heat, wordcount, pgasrun
	set    sync.Once
	failed error
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	status := m.Run()
	if dir == "" {
		return status
	}
	defer os.RemoveAll(dir)
	defer hosts.Close()
	stopSlurm()
	if left := killMarked(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes are left behind:", left)
		return 1
	}
	return status
}

// needHosts makes two hosts and the programs for all tests, or skips the test.
func needHosts(t testing.TB, tools ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("many processes: run without -short")
	}
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
	for _, name := range tools {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s: apt-get install slurmctld slurmd slurm-client munge openmpi-bin", name)
		}
	}
	set.Do(func() { failed = setUp() })
	if failed != nil {
		t.Fatal(failed)
	}
}

func setUp() (err error) {
	if dir, err = os.MkdirTemp("", "clusters"); err != nil {
		return err
	}
	bin = filepath.Join(dir, "bin")
	if hosts, err = netns.New(3); err != nil {
		return err
	}
	if err := copyWords(); err != nil {
		return err
	}
	return build()
}

// words is a directory with texts, which every user can read.
var words string

// copyWords copies the sources of these tests to words: PEs in pods have a user of their own, who may not read the
// sources.
func copyWords() error {
	words = filepath.Join(dir, "words")
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		return err
	}
	if err := os.Mkdir(words, 0o755); err != nil {
		return err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(words, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build makes the programs.
func build() error {
	root, err := built.Root()
	if err != nil {
		return err
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	if err := built.Commands(root, bin); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", bin+"/", "./tests/clusters/body", "./samples/wordcount", "./samples/gups", "./samples/heat")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// marked returns the processes of these tests: their environment names dir.
func marked() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		pid, _ := strconv.Atoi(filepath.Base(p))
		env, err := os.ReadFile(p + "/environ")
		if err == nil && pid != os.Getpid() && bytes.Contains(env, []byte(dir)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMarked kills the processes of these tests that are left, and returns what they were.
func killMarked() (left []string) {
	for _, pid := range marked() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		left = append(left, fmt.Sprint(pid, " ", strings.ReplaceAll(string(line), "\x00", " ")))
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

// onHost returns a command that runs on a host, with the tests' variables.
func onHost(ctx context.Context, host int, argv ...string) *exec.Cmd {
	argv = append([]string{"--net=/run/netns/" + hosts.Names[host]}, argv...)
	cmd := exec.CommandContext(ctx, "nsenter", argv...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "PGAS_HEAP_MAX=64m")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// outcome is what a launcher has printed, and how it ended.
type outcome struct {
	out, errs string
	status    int
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d, standard output\n%s\nstandard error\n%s", o.status, o.out, o.errs)
}

// run runs a command to its end.
func run(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, &out, &errs)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// start runs commands at once and returns what they have printed together, with the worst of their statuses.
func start(t *testing.T, cmds ...*exec.Cmd) outcome {
	t.Helper()
	all := make([]outcome, len(cmds))
	var running sync.WaitGroup
	for i, cmd := range cmds {
		running.Go(func() { all[i] = run(t, cmd) })
	}
	running.Wait()
	var o outcome
	for _, one := range all {
		o.out, o.errs, o.status = o.out+one.out, o.errs+one.errs, worse(o.status, one.status)
	}
	return o
}

// worse returns the worse of two exit statuses, of which -1 stands for the end by a signal.
func worse(a, b int) int { return max(a, b, -a, -b) }

// terminate asks commands to end, as a user or the system of a host does.
func terminate(_ *testing.T, _ string, cmds []*exec.Cmd) {
	for _, cmd := range cmds {
		cmd.Process.Signal(syscall.SIGTERM)
	}
}

// hangContext ends when a test hangs.
func hangContext(t testing.TB) context.Context {
	ctx, cancel := hang.Within(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// expectHello checks that n PEs have printed their lines, of one job.
func expectHello(t *testing.T, o outcome, n int) {
	t.Helper()
	for pe := range n {
		if line := fmt.Sprintf("hello from PE %d of %d, sum %d\n", pe, n, n*(n+1)/2); o.status != 0 || strings.Count(o.out, line) != 1 {
			t.Fatalf("no %q in: %v", line, o)
		}
	}
}

// expect checks the status of o (not 0 if it is failing), and that its output has all of texts.
func expect(t *testing.T, o outcome, status int, texts ...string) {
	t.Helper()
	if o.status != status && !(status == failing && o.status != 0) {
		t.Errorf("want status %d: %v", status, o)
	}
	for _, text := range texts {
		if !strings.Contains(o.out+o.errs, text) {
			t.Errorf("no %q in: %v", text, o)
		}
	}
}

// expectMissing is expect for a job in which some processes never come. The time-out, for which texts have a %s, grows
// until the others come within it: on a busy machine they take long to start.
func expectMissing(t *testing.T, start func(timeout string) outcome, status int, texts ...string) {
	t.Helper()
	timeouts := []string{"2s", "10s", "50s"}
	for i, timeout := range timeouts {
		o := start("PGAS_BOOT_TIMEOUT=" + timeout)
		var want []string
		said := true
		for _, text := range texts {
			text = strings.ReplaceAll(text, "%s", timeout)
			want, said = append(want, text), said && strings.Contains(o.out+o.errs, text)
		}
		if said || i == len(timeouts)-1 {
			expect(t, o, status, want...)
			return
		}
	}
}

// failing stands for any status but 0.
const failing = -1

var (
	killedAt = regexp.MustCompile(`killed at (\d+)`)
	toldAt   = regexp.MustCompile(`PE (\d+) told of PE 1 at (\d+)`)
)

// tellTime is how long the news of a death may take. It is a promise, not a limit for hangs.
const tellTime = 2 * time.Second

// expectNews checks that all n PEs but PE 1 were told of its death in time.
func expectNews(t *testing.T, o outcome, n int) {
	t.Helper()
	died, told := killedAt.FindStringSubmatch(o.out), toldAt.FindAllStringSubmatch(o.out, -1)
	if died == nil || len(told) != n-1 || o.status == 0 {
		t.Fatalf("%d PEs were told of the death, want %d: %v", len(told), n-1, o)
	}
	at, _ := strconv.ParseInt(died[1], 10, 64)
	for _, m := range told {
		if when, _ := strconv.ParseInt(m[2], 10, 64); time.Duration(when-at)*time.Millisecond > tellTime {
			t.Errorf("PE %s was told after %d ms", m[1], when-at)
		}
	}
}
