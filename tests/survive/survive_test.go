// Package survive kills jobs that save their state, at random moments, and starts them again until they reach their
// end. What they compute must be, to the last bit, what an undisturbed job computes. A service must have every update
// that it has acknowledged (service_test.go).
//
//ci:norace
package survive

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/tests/built"
)

var (
	jobs     = flag.Int("jobs", 6, "how many jobs are killed again and again")
	services = flag.Int("services", 1, "how many services are")
	seed     = flag.Uint64("seed", 0, "the seed of the first of both; 0: a new one")
)

var bin string // the folder of pgasrun and the samples

// programs are what jobs run, each for some hundred milliseconds. The next seed has the next program.
var programs = []struct {
	name string
	args []string
}{
	{"heat", []string{"-version", "saved", "-rows", "10", "-save", "7", "-steps", "1200", "-verify"}},
	{"queens", []string{"-queens", "14", "-depth", "6", "-round", "20ms", "-verify"}},
	{"mapservice", []string{"-listen", "localhost:0", "-capacity", "2000", "-keys", "500", "-verify"}},
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "survive")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	root, err := built.Root()
	if err == nil {
		err = built.Commands(root, dir)
	}
	for _, p := range programs {
		if err == nil {
			err = built.Program(root, "./samples/"+p.name, filepath.Join(dir, p.name))
		}
	}
	if err == nil {
		err = built.Program(root, "./tests/survive/ledger", filepath.Join(dir, "ledger"))
	}
	if err == nil {
		err = built.Program(root, "./tests/survive/keeper", filepath.Join(dir, "keeper"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin = dir
	return m.Run()
}

// TestKills: a job is killed in some way in most of its starts: one of its PEs or all, its launcher, its agents, by
// SIGKILL or as a scheduler does, on one host or on two. Nothing is left of any start but the cuts that are kept.
func TestKills(t *testing.T) {
	each(t, *jobs, func(t *testing.T, s uint64, r *rand.Rand) {
		p := programs[s%uint64(len(programs))]
		t.Log(p.name)
		kill(t, r, p.name, p.args)
	})
}

// each runs n tests with seeds that follow one another.
func each(t *testing.T, n int, run func(t *testing.T, s uint64, r *rand.Rand)) {
	first := *seed
	if first == 0 {
		first = rand.Uint64() >> 1
	}
	for i := range n {
		s := first + uint64(i)
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					name, _, _ := strings.Cut(t.Name(), "/")
					t.Logf("go test ./tests/survive -run %s -seed %d -jobs 1 -services 1 has the same moments again", name, s)
				}
			}()
			run(t, s, rand.New(rand.NewPCG(s, 1)))
		})
	}
}

// kill starts a job until it ends well.
func kill(t *testing.T, r *rand.Rand, program string, args []string) {
	dir := filepath.Join(t.TempDir(), "cuts")
	killed := 0
	for start := 0; ; start++ {
		if start == 200 {
			t.Fatalf("the job has not ended in %d starts, of which %d were killed", start, killed)
		}
		j := begin(t, r, dir, program, args...)
		for range r.IntN(4) {
			if start < 8 {
				killed += j.disturb(r)
			}
		}
		status := j.end()
		cuts, unfinished := contents(t, dir)
		switch {
		case status == 0:
			// a job that was killed while it removed cuts, and had nothing more to save when it went on, leaves some
			if len(cuts) < 2 || len(cuts) > 3 || (len(cuts) > 2 || unfinished > 0) && killed == 0 {
				t.Errorf("at the end there are the cuts %q and %d files that were begun", cuts, unfinished)
			}
			t.Logf("%d starts, of which %d were killed", start+1, killed)
			return
		case start >= 8:
			t.Fatalf("an undisturbed start has ended with status %d:\n%s", status, j.out.String())
		case wrong.MatchString(j.out.String()):
			t.Fatalf("start %d:\n%s", start, j.out.String())
		}
	}
}

// wrong is what programs print whose state is not that of an undisturbed job.
var wrong = regexp.MustCompile("is not what one PE computes|one PE finds|was put|damaged")

// aJob is one start.
type aJob struct {
	t       *testing.T
	program string
	netns   bool // on two hosts
	cmd     *exec.Cmd
	mark    string
	out     capture.Output
	done    chan struct{}
}

// begin starts the job on some PEs. If dir is "" its cuts are in memory alone.
func begin(t *testing.T, r *rand.Rand, dir, program string, args ...string) *aJob {
	j := &aJob{t: t, program: program, mark: fmt.Sprintf("TEST_SURVIVE_MARK=%d.%d", os.Getpid(), r.Uint64()), done: make(chan struct{})}
	where := []string{"-n", strconv.Itoa(1 + r.IntN(5))}
	if r.IntN(4) == 0 && netns.Usable() == nil {
		j.netns = true
		where = []string{"-netns", []string{"2x1", "2x2"}[r.IntN(2)]}
	}
	switch x := r.IntN(4); {
	case dir == "":
		where = append(where, "-survive", "50")
	case x == 0:
		where = append(where, "-restart", strconv.Itoa(1+r.IntN(3)))
	case x < 3:
		where = append(where, "-survive", strconv.Itoa(1+r.IntN(4)))
	}
	if dir != "" {
		where = append(where, "-checkpoint", dir)
	}
	j.start(slices.Concat(where, []string{filepath.Join(bin, program)}, args))
	return j
}

// start starts pgasrun.
func (j *aJob) start(args []string) {
	j.cmd = exec.CommandContext(j.t.Context(), filepath.Join(bin, "pgasrun"), args...)
	j.cmd.Env = append(os.Environ(), j.mark, "PGAS_HEAP_MAX=32m")
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	if err := j.cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	go func() {
		j.cmd.Wait()
		close(j.done)
	}()
}

// disturb does something to the job at some moment, if it still runs then. It returns how often.
func (j *aJob) disturb(r *rand.Rand) int {
	what := r.IntN(6)
	select { // the moment at which something happens is no limit: the test holds whatever the job has done by then
	case <-j.done:
		return 0
	case <-time.After(time.Duration(r.IntN(700)) * time.Millisecond):
	}
	pes, agents := j.kinds()
	kill := func(pids []int, n int, sig syscall.Signal) {
		for _, i := range r.Perm(len(pids))[:min(n, len(pids))] {
			syscall.Kill(pids[i], sig)
		}
	}
	switch what {
	case 0:
		kill(pes, 1, syscall.SIGKILL)
	case 1:
		kill(pes, len(pes), syscall.SIGKILL)
	case 2:
		kill(agents, 1, syscall.SIGKILL)
	case 3:
		j.cmd.Process.Kill()
	case 4: // as a scheduler does
		j.cmd.Process.Signal(syscall.SIGTERM)
	case 5: // one PE stands still for a while, and another is killed
		kill(pes, 1, syscall.SIGSTOP)
		kill(pes, 1, syscall.SIGKILL)
		kill(pes, len(pes), syscall.SIGCONT)
	}
	return 1
}

// end waits for the end of the job, and of all its processes, and returns the status of pgasrun.
func (j *aJob) end() int {
	limit, cancel := hang.Context(j.t.Context())
	defer cancel()
	select {
	case <-j.done:
	case <-limit.Done():
		j.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(time.Second) // for pgasrun to print what each PE is blocked in: the test has failed already
		j.t.Fatalf("pgasrun does not end:\n%s", j.out.String())
	}
	for len(j.processes()) > 0 {
		if limit.Err() != nil {
			j.t.Fatalf("processes are left: %v", j.processes())
		}
		time.Sleep(5 * time.Millisecond) // for the kernel to end processes that were killed
	}
	return j.cmd.ProcessState.ExitCode()
}

// kinds lists the processes that are PEs, and those that are agents.
func (j *aJob) kinds() (pes, agents []int) {
	for _, pid := range j.processes() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		switch {
		case bytes.HasPrefix(cmdline, []byte(filepath.Join(bin, j.program))):
			pes = append(pes, pid)
		case bytes.HasSuffix(cmdline, []byte("\x00agent\x00")):
			agents = append(agents, pid)
		}
	}
	return pes, agents
}

// processes lists what runs with the mark of the job, however it was started.
func (j *aJob) processes() (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte(j.mark+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

var nameOfCut = regexp.MustCompile(`^c[0-9]{6}-t[0-9]{4}(\.json)?$`)

// contents returns the cuts of a directory that have a manifest, and how many files are there that were begun and not
// finished. It fails if anything else is there.
func contents(t *testing.T, dir string) (cuts []string, unfinished int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), ".part"):
			unfinished++
		case nameOfCut.MatchString(e.Name()):
			if cut, ok := strings.CutSuffix(e.Name(), ".json"); ok {
				cuts = append(cuts, cut)
			}
		case e.Name() != "job.json":
			t.Errorf("what is %s?", e.Name())
		}
	}
	parts, _ := filepath.Glob(filepath.Join(dir, "c*", "*.part"))
	return cuts, unfinished + len(parts)
}
