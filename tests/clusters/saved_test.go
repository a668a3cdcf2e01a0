package clusters

// Jobs that save their state, and are started again by what has started them: Kubernetes after the failure of a pod,
// Slurm after the end of an allocation's time. Each has the result of a job that nobody has disturbed.

import (
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
	"time"
)

// heatSteps is for how long the jobs of these tests would run undisturbed: a second or more, and a cut in each
// hundredth of that. A test that has come too late to disturb a job has another one run for longer.
var heatSteps = []int{200, 1600, 12800}

// heatOf returns the arguments of the program whose PE 0 compares its result with that of one PE.
func heatOf(steps int) []string {
	words := []string{bin + "/heat", "-version", "saved", "-verify", "-rows", "4"}
	return append(words, "-steps", strconv.Itoa(steps), "-save", strconv.Itoa(steps/100))
}

var unevenness = regexp.MustCompile(`unevenness (\S+),`)

// expectHeat checks that a job has printed the result of an undisturbed one, once.
func expectHeat(t *testing.T, out string, steps int) {
	t.Helper()
	want := run(t, onHost(hangContext(t), 0, heatOf(steps)...))
	result, got := unevenness.FindStringSubmatch(want.out), unevenness.FindAllStringSubmatch(out, -1)
	if want.status != 0 || len(result) != 2 || len(got) != 1 || got[0][1] != result[1] {
		t.Errorf("the result is %v, want that of: %v\nit has printed:\n%s", got, want, out)
	}
	if !strings.Contains(out, "goes on from cut ") {
		t.Errorf("it did not go on from a cut:\n%s", out)
	}
}

// cutsIn returns how many cuts a directory has.
func cutsIn(dir string) int {
	names, _ := filepath.Glob(dir + "/c*.json")
	return len(names)
}

// controller is what starts the pods of a Job again, by the rules of its manifest. It waits for less time than that of
// Kubernetes, which is 10 s before a pod is started again, then 20 s, and so on.
type controller struct {
	*pods
	mu       sync.Mutex
	said     strings.Builder
	running  map[int]*exec.Cmd
	evicted  map[int]bool
	failures map[int]int // that count, by index
	ignored  map[int]int
}

const podBackoff = time.Second

// keep runs the pod of an index, and again until it has ended well, or has failed too often.
func (c *controller) keep(index int) {
	for host := index; ; host = 2 { // another node, with another address
		if index > 0 {
			host = index
		}
		c.publish(index, host)
		cmd := c.pod(index, host)
		cmd.Stdout, cmd.Stderr = &lineWriter{to: c.line}, &lineWriter{to: c.line}
		c.mu.Lock()
		err := cmd.Start()
		c.running[index] = cmd
		c.mu.Unlock()
		if err != nil {
			c.t.Error(err)
			return
		}
		cmd.Wait()
		if c.ended(index, cmd.ProcessState.ExitCode()) {
			return
		}
		time.Sleep(podBackoff)
	}
}

func (c *controller) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said.WriteString(text)
}

// ended notes the end of a pod, and reports whether its index has succeeded or failed for ever.
func (c *controller) ended(index, status int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	spec, evicted := c.job.Spec, c.evicted[index]
	c.evicted[index] = false
	if status == 0 {
		return true
	}
	for _, r := range spec.PodFailurePolicy.Rules {
		disrupted := len(r.OnPodConditions) == 1 && r.OnPodConditions[0].Type == "DisruptionTarget" && evicted
		exited := r.OnExitCodes.Operator == "In" && slices.Contains(r.OnExitCodes.Values, status)
		if r.Action == "Ignore" && (disrupted || exited) {
			c.ignored[index]++
			return false
		}
	}
	c.failures[index]++
	return c.failures[index] > spec.BackoffLimitPerIndex
}

// disturbedPods runs a job of Kubernetes that saves its state, and calls disturb when it has a cut. It returns how the
// pods have ended, and the steps of the job.
func disturbedPods(t *testing.T, disturb func(*controller)) (*controller, int) {
	t.Helper()
	needHosts(t)
	for _, steps := range heatSteps {
		claim, err := os.MkdirTemp(dir, "claim")
		if err != nil {
			t.Fatal(err)
		}
		c := &controller{pods: newPods(t, append([]string{"-checkpoint", "cuts"}, heatOf(steps)...)...)}
		c.claim = claim
		c.running, c.evicted, c.failures, c.ignored = map[int]*exec.Cmd{}, map[int]bool{}, map[int]int{}, map[int]int{}
		if err := os.Chown(claim, 0, c.job.Spec.Template.Spec.SecurityContext.FSGroup); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(claim, 0o775); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		ended := make(chan struct{})
		all.Go(func() { c.keep(0) })
		all.Go(func() { c.keep(1) })
		go func() { all.Wait(); close(ended) }()
		if err := await(func() bool { return cutsIn(claim+"/heat") > 0 || isClosed(ended) }); err != nil {
			t.Errorf("there is no cut: %v", err)
		}
		disturb(c)
		<-ended
		if c.failures[0]+c.failures[1]+c.ignored[0]+c.ignored[1] > 0 || t.Failed() {
			return c, steps
		}
		t.Logf("%d steps had ended before they were disturbed", steps)
	}
	t.Fatal("no job was disturbed")
	return nil, 0
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestPodKilled: when a PE is killed all pods of the job fail, Kubernetes starts each of them again, that of PE 0 with
// another address, and the job goes on from its last cut.
func TestPodKilled(t *testing.T) {
	c, steps := disturbedPods(t, func(c *controller) {
		for _, pid := range processes("heat") {
			if env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); strings.Contains(string(env), "PGAS_PE=3\x00") {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	expectHeat(t, c.said.String(), steps)
	if c.failures[0] == 0 || c.failures[1] == 0 || c.ignored[0]+c.ignored[1] != 0 {
		t.Errorf("failures %v, of which these do not count: %v", c.failures, c.ignored)
	}
	noneLeft(t, "heat", "pgasrun")
}

// TestPodEvictedSaves: a pod that is asked to end has all PEs save and end with a status that does not count, and the
// job goes on from there.
func TestPodEvictedSaves(t *testing.T) {
	c, steps := disturbedPods(t, func(c *controller) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.evicted[1] = true
		terminate(c.t, "", []*exec.Cmd{c.running[1]})
	})
	expectHeat(t, c.said.String(), steps)
	stops := strings.Count(c.said.String(), "the job stops as it was asked to")
	if stops != 1 || strings.Contains(c.said.String(), "status 75") {
		t.Errorf("it has printed:\n%s", c.said.String())
	}
	if c.ignored[0] != 1 || c.ignored[1] != 1 {
		t.Errorf("failures %v, of which these do not count: %v", c.failures, c.ignored)
	}
	noneLeft(t, "heat", "pgasrun")
}
