package clusters

// Jobs without pgasrun of which some PEs are stopped, or cut off. Each other PE must end, and name one of them. For a
// PE that waits only for the end of its context, the runtime names the lost PE.

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var long = flag.Bool("long", false, "test every case of silent PEs, which takes 15 minutes")

// silenceEnv is short for a test, and long enough for PEs that share CPUs with many.
const silenceEnv = "PGAS_PEER_TIMEOUT=4s"

// silentJob is a way to start a job whose PEs fall silent.
type silentJob struct {
	name  string
	npes  int
	start func(t *testing.T, wait string) []*exec.Cmd
}

var silentJobs = []silentJob{
	{"static", 6, func(t *testing.T, wait string) (cmds []*exec.Cmd) {
		s := silentStatic(t)
		for pe := range 6 {
			cmds = append(cmds, s.pe(t, pe, pe/2, bin+"/body", "silent", wait))
		}
		return cmds
	}},
	{"pgasrun static", 6, func(t *testing.T, wait string) (cmds []*exec.Cmd) {
		s := silentStatic(t)
		for host := range 3 {
			cmd := s.pe(t, 0, host, bin+"/pgasrun", "static", bin+"/body", "silent", wait)
			cmd.Env = append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "PGAS_PE=") }), fmt.Sprint("PGAS_HOST=", host))
			cmds = append(cmds, cmd)
		}
		return cmds
	}},
	{"srun, none", 4, silentStep("none")},
	{"srun, pmix", 4, silentStep("pmix")},
}

func silentStatic(t *testing.T) static {
	s := newStatic(t)
	s.list, s.env = "one:2,two:2,three:2", []string{silenceEnv}
	return s
}

func silentStep(mpi string) func(t *testing.T, wait string) []*exec.Cmd {
	return func(t *testing.T, wait string) []*exec.Cmd {
		needSlurm(t)
		cmd := srun(hangContext(t), mpi, "-N2", "-n4", bin+"/body", "silent", wait)
		cmd.Env = append(cmd.Env, silenceEnv)
		return []*exec.Cmd{cmd}
	}
}

// stoppedSets are the PEs that are stopped, in each job.
var stoppedSets = [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}}

// alwaysStopped are the cases of every run: those that hung, or blamed a PE that was well, while no PE watched the
// arbiter, and some of each wait.
var alwaysStopped = []string{
	"static[0]barrier", "static[0]context", "static[1]compute", "static[2]put", "static[0 2]context",
	"pgasrun static[0]word", "srun, none[0]context", "srun, none[0 1]put", "srun, pmix[1]lock",
}

var silentWaits = []string{"barrier", "word", "context", "put", "lock", "compute"}

// TestStoppedPEs runs alwaysStopped, and with -long every case.
func TestStoppedPEs(t *testing.T) {
	needHosts(t)
	for _, job := range silentJobs {
		for _, stopped := range stoppedSets {
			for _, wait := range silentWaits {
				if !*long && !slices.Contains(alwaysStopped, fmt.Sprint(job.name, stopped, wait)) {
					continue
				}
				t.Run(fmt.Sprint(job.name, "/", stopped, "/", wait), func(t *testing.T) { stopSome(t, job, stopped, wait) })
			}
		}
	}
	nothingLeft(t)
}

// stopSome runs a job, stops PEs, and checks what the others say.
func stopSome(t *testing.T, job silentJob, stopped []int, wait string) {
	said := silence(t, job, wait, stopped, func(pids map[int]int) error {
		for _, pe := range stopped {
			if err := syscall.Kill(pids[pe], syscall.SIGSTOP); err != nil {
				return err
			}
		}
		return nil
	})
	said.check(t, stopped, func(_, lost int) bool { return slices.Contains(stopped, lost) })
}

// TestCutOffHost: the network loses a host, that of the arbiter or another one. PEs of the other hosts name one of that
// host. On that host no PE can tell which end is to blame.
func TestCutOffHost(t *testing.T) {
	needHosts(t)
	for _, host := range []int{0, 1} {
		for _, wait := range []string{"barrier", "context", "put"} {
			t.Run(fmt.Sprint(host, "/", wait), func(t *testing.T) {
				said := silence(t, silentJobs[0], wait, nil, func(map[int]int) error { return setLink(host, "down") })
				if err := setLink(host, "up"); err != nil {
					t.Fatal(err)
				}
				said.check(t, nil, func(pe, lost int) bool { return pe/2 == host || lost/2 == host })
			})
		}
	}
	nothingLeft(t)
}

// setLink takes the link of a host down, or up.
func setLink(host int, state string) error {
	out, err := exec.Command("ip", "-n", hosts.Bridge, "link", "set", fmt.Sprint("port", host), state).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// silence runs a job, strikes when its PEs are ready, and waits until all PEs but those that are stopped have ended.
func silence(t *testing.T, job silentJob, wait string, stopped []int, strike func(pids map[int]int) error) *said {
	t.Helper()
	said := &said{pids: map[int]int{}, npes: job.npes, ready: make(chan struct{})}
	var running sync.WaitGroup
	for _, cmd := range job.start(t, wait) {
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { cmd.Wait() })
	}
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	select {
	case <-said.ready:
	case <-ended:
		t.Fatalf("the job ended before its PEs were ready: %s", said)
	}
	if err := strike(said.pids); err != nil {
		t.Error(err)
	}
	err := await(func() bool {
		for pe, pid := range said.pids {
			if !slices.Contains(stopped, pe) && isRunning(pid) {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Errorf("PEs have not ended: %v", err)
	}
	for _, pid := range marked() { // the stopped ones, and those that hang
		if slices.Contains(slices.Collect(maps.Values(said.pids)), pid) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-ended
	return said
}

// isRunning reports whether a process has not ended.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := strings.Cut(string(stat), ") ")
	return err == nil && found && state[0] != 'Z'
}

// said is what the PEs of a job have said.
type said struct {
	mu    sync.Mutex
	text  bytes.Buffer
	npes  int
	pids  map[int]int // complete when ready is closed
	ready chan struct{}
}

var (
	isReady = regexp.MustCompile(`PE (\d+) is ready in process (\d+)`)
	hasLost = regexp.MustCompile(`PE (\d+)(?: has lost| on \S+: ends, because) PE (\d+)`)
)

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if len(s.pids) == s.npes {
		return len(b), nil
	}
	for _, m := range isReady.FindAllStringSubmatch(s.text.String(), -1) {
		pe, _ := strconv.Atoi(m[1])
		s.pids[pe], _ = strconv.Atoi(m[2])
	}
	if len(s.pids) == s.npes {
		close(s.ready)
	}
	return len(b), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// check checks that each PE that was not stopped has named PEs, and only those that it may name.
func (s *said) check(t *testing.T, stopped []int, may func(pe, lost int) bool) {
	t.Helper()
	named := make([]bool, s.npes)
	for _, m := range hasLost.FindAllStringSubmatch(s.String(), -1) {
		pe, _ := strconv.Atoi(m[1])
		lost, _ := strconv.Atoi(m[2])
		if named[pe] = true; !may(pe, lost) {
			t.Errorf("PE %d names PE %d", pe, lost)
		}
	}
	for pe := range s.npes {
		if !named[pe] && !slices.Contains(stopped, pe) {
			t.Errorf("PE %d names no PE", pe)
		}
	}
	if t.Failed() {
		t.Logf("stopped were %v:\n%s", stopped, s)
	}
}
