package clusters

// Jobs that save their state, and are started again by what has started them: Kubernetes after the failure of a pod,
// Slurm after the end of an allocation's time. Each has the result of a job that nobody has disturbed.

import (
	"context"
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

// heatOf returns the command of a job that saves after each so many steps. Its PE 0 compares its result with that of
// one PE.
func heatOf(steps, save int) []string {
	words := []string{bin + "/heat", "-version", "saved", "-verify", "-rows", "4"}
	return append(words, "-steps", strconv.Itoa(steps), "-save", strconv.Itoa(save))
}

var unevenness = regexp.MustCompile(`unevenness (\S+),`)

// expectHeat checks that a job has printed the result of an undisturbed one, once.
func expectHeat(t *testing.T, out string, steps int) {
	t.Helper()
	want := run(t, onHost(hangContext(t), 0, heatOf(steps, steps)...))
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
		time.Sleep(podBackoff) // as the controller does before it starts a pod again
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
		c := &controller{pods: newPods(t, append([]string{"-checkpoint", "cuts"}, heatOf(steps, steps/100)...)...)}
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

// TestBatchScriptSaves: the script of `pgasgen init` has Slurm start a job again that has saved its state, since its
// steps have got the signal of --signal, and the job goes on. A job that is cancelled is not started again. slurmctld
// sends the signal twice a minute at most; here scancel sends the same one.
func TestBatchScriptSaves(t *testing.T) {
	needSlurm(t)
	var all sync.WaitGroup
	cancelled := map[string]*batchJob{"srun": {}, "pgasrun": {}}
	for by, path := range batchPaths() {
		all.Go(func() { requeued(t, by, path) })
		all.Go(func() {
			job := cancelled[by]
			*job = submitHeat(t, "cancelled-"+by, path, 1_000_000, 2)
			job.signal(t)
		})
	}
	all.Wait()
	noneLeft(t, "heat", "pgasrun", "srun")
	for by, job := range cancelled {
		if !job.has("JobState=CANCELLED") || !job.has("Restarts=0") {
			t.Errorf("%s: the job was cancelled, and is to stay so: %s", by, job.printed())
		}
	}
}

func requeued(t *testing.T, by, path string) {
	for _, steps := range heatSteps {
		job := submitHeat(t, "saves-"+by, path, steps, steps/100)
		job.signal(t, "-s", "TERM")
		if err := await(func() bool { return job.has("Restarts=1") || job.has("JobState=COMPLETED") }); err != nil {
			t.Errorf("%s: %v: %s", by, err, job.printed())
		}
		if !job.has("Restarts=1") {
			t.Logf("%d steps had ended before they were disturbed", steps)
			continue
		}
		if err := await(func() bool { return hasten(t, job.id) }); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		state, out := awaitJob(t, job.id, job.said)
		if state != "COMPLETED" || strings.Count(out, "the job stops as it was asked to") != 1 {
			t.Errorf("%s: the job is %s: %s", by, state, out)
		}
		expectHeat(t, out, steps)
		return
	}
	t.Errorf("%s: no job was disturbed", by)
}

// batchJob is a job of Slurm, and the file of what it prints.
type batchJob struct{ id, said string }

// submitHeat submits a job that saves its state, and waits until it has a cut.
func submitHeat(t *testing.T, name, path string, steps, save int) batchJob {
	id, said := submit(t, name, path, strings.Join(heatOf(steps, save), " "))
	job := batchJob{id, said}
	cuts := filepath.Join(filepath.Dir(said), "cuts-"+id)
	err := await(func() bool { return cutsIn(cuts) > 0 || job.has("JobState=FAILED") })
	if err != nil || cutsIn(cuts) == 0 {
		t.Errorf("%s: there is no cut: %v: %s", name, err, job.printed())
	}
	return job
}

func (j batchJob) signal(t *testing.T, how ...string) {
	out, err := slurmCommand(t.Context(), append(append([]string{"scancel"}, how...), j.id)...).CombinedOutput()
	if err != nil {
		t.Errorf("scancel: %v: %s", err, out)
	}
}

// has reports whether Slurm says something of the job.
func (j batchJob) has(what string) bool {
	out, err := slurmCommand(context.Background(), "scontrol", "show", "job", j.id).Output()
	return err == nil && strings.Contains(string(out), what)
}

func (j batchJob) printed() string {
	text, _ := os.ReadFile(j.said)
	return string(text)
}
