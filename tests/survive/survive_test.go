// Package survive kills jobs that save their state, at random moments, and starts them again until they reach their
// end. What they compute must be, to the last bit, what an undisturbed job computes.
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
	jobs = flag.Int("jobs", 6, "how many jobs are killed again and again")
	seed = flag.Uint64("seed", 0, "the seed of the first; 0: a new one")
)

var bin string // the folder of pgasrun and heat

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
	if err == nil {
		err = built.Program(root, "./samples/heat", filepath.Join(dir, "heat"))
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
	first := *seed
	if first == 0 {
		first = rand.Uint64() >> 1
	}
	for i := range *jobs {
		s := first + uint64(i)
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("go test ./tests/survive -run TestKills -seed %d -jobs 1 has the same moments again", s)
				}
			}()
			kill(t, rand.New(rand.NewPCG(s, 1)))
		})
	}
}

// Steps is how many steps a job computes: some hundred milliseconds.
const steps = 1200

// kill starts a job until it ends well.
func kill(t *testing.T, r *rand.Rand) {
	dir := filepath.Join(t.TempDir(), "cuts")
	killed := 0
	for start := 0; ; start++ {
		if start == 200 {
			t.Fatalf("the job has not ended in %d starts, of which %d were killed", start, killed)
		}
		j := begin(t, r, dir)
		for range r.IntN(4) {
			if start < 8 {
				killed += j.disturb(r)
			}
		}
		status := j.end()
		cuts, unfinished := contents(t, dir)
		switch {
		case status == 0:
			if len(cuts) != 2 || unfinished > 0 {
				t.Errorf("at the end there are the cuts %q and %d files that were begun", cuts, unfinished)
			}
			t.Logf("%d starts, of which %d were killed", start+1, killed)
			return
		case start >= 8:
			t.Fatalf("an undisturbed start has ended with status %d:\n%s", status, j.out.String())
		case strings.Contains(j.out.String(), "is not what one PE computes") || strings.Contains(j.out.String(), "damaged"):
			t.Fatalf("start %d:\n%s", start, j.out.String())
		}
	}
}

// aJob is one start.
type aJob struct {
	t    *testing.T
	cmd  *exec.Cmd
	mark string
	out  capture.Output
	done chan struct{}
}

// begin starts the job on some PEs.
func begin(t *testing.T, r *rand.Rand, dir string) *aJob {
	j := &aJob{t: t, mark: fmt.Sprintf("TEST_SURVIVE_MARK=%d.%d", os.Getpid(), r.Uint64()), done: make(chan struct{})}
	where := []string{"-n", strconv.Itoa(1 + r.IntN(5))}
	if r.IntN(4) == 0 && netns.Usable() == nil {
		where = []string{"-netns", []string{"2x1", "2x2"}[r.IntN(2)]}
	}
	switch r.IntN(4) {
	case 0:
		where = append(where, "-restart", strconv.Itoa(1+r.IntN(3)))
	case 1, 2:
		where = append(where, "-survive", strconv.Itoa(1+r.IntN(4)))
	}
	args := append(where, "-checkpoint", dir, filepath.Join(bin, "heat"), "-version", "saved", "-rows", "10", "-save", "7", "-steps", strconv.Itoa(steps), "-verify")
	j.cmd = exec.Command(filepath.Join(bin, "pgasrun"), args...)
	j.cmd.Env = append(os.Environ(), j.mark, "PGAS_HEAP_MAX=32m")
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		j.cmd.Wait()
		close(j.done)
	}()
	return j
}

// disturb does something to the job at some moment, if it still runs then. It returns how often.
func (j *aJob) disturb(r *rand.Rand) int {
	what := r.IntN(6)
	select { // the moment at which something happens is no limit: the test holds whatever the job has done by then
	case <-j.done:
		return 0
	case <-time.After(time.Duration(r.IntN(700)) * time.Millisecond):
	}
	var pes, agents []int
	for _, pid := range j.processes() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		switch {
		case bytes.HasPrefix(cmdline, []byte(filepath.Join(bin, "heat"))):
			pes = append(pes, pid)
		case bytes.HasSuffix(cmdline, []byte("\x00agent\x00")):
			agents = append(agents, pid)
		}
	}
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
