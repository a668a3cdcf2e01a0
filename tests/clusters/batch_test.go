package clusters

// The script that `pgasgen init` writes, run by sbatch: with pgasrun on the nodes, and without, so that srun starts the
// PEs. It promises that the contexts of all PEs end a minute before the time limit, and when scancel comes.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// batchPaths are the two PATHs, by what starts the PEs then.
func batchPaths() map[string]string {
	path := os.Getenv("PATH")
	return map[string]string{"srun": path, "pgasrun": bin + ":" + path}
}

// submit submits the script as a job of that name, in which a command stands for the starter program, and returns its
// number and the file of its output.
func submit(t *testing.T, name, path, command string) (id, said string) {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "templates/starter/job.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp(dir, "batch")
	if err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(work, "job.sbatch")
	if err := os.WriteFile(job, []byte(strings.ReplaceAll(string(script), "./starter", command)), 0o600); err != nil {
		t.Fatal(err)
	}
	said = filepath.Join(work, "out")
	cmd := slurmCommand(hangContext(t), "sbatch", "--parsable", "-s", "-J", name, "-D", work, "-o", said, job)
	cmd.Env = append(cmd.Env, "PATH="+path)
	o := run(t, cmd)
	if o.status != 0 {
		t.Fatal(o)
	}
	return strings.TrimSpace(o.out), said
}

// awaitJob waits for the end of a job and returns its state and what it has printed.
func awaitJob(t *testing.T, id, said string) (state, out string) {
	t.Helper()
	err := await(func() bool {
		job, err := slurmCommand(t.Context(), "scontrol", "show", "job", id).Output()
		_, rest, _ := strings.Cut(string(job), "JobState=")
		state, _, _ = strings.Cut(rest, " ")
		return err == nil && slices.Contains([]string{"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"}, state)
	})
	text, _ := os.ReadFile(said)
	if err != nil {
		t.Errorf("job %s is %s: %v: %s", id, state, err, text)
	}
	return state, string(text)
}

func TestBatchScript(t *testing.T) {
	needSlurm(t)
	for by, path := range batchPaths() {
		id, said := submit(t, "script-"+by, path, bin+"/body hello")
		_, out := awaitJob(t, id, said)
		expectHello(t, outcome{out: out}, 4)
	}
	nothingLeft(t)
}

// TestBatchScriptEnds: each of the jobs would run for its ten minutes. slurmctld looks twice a minute for jobs whose
// limit is near; so both of them wait at once, with a limit that is less than the minute of --signal away. They end
// with the error of their contexts, before the limit: the state of a job that reaches it is TIMEOUT.
func TestBatchScriptEnds(t *testing.T) {
	needSlurm(t)
	var all sync.WaitGroup
	for by, path := range batchPaths() {
		for cause, want := range map[string]string{"limit": "FAILED", "scancel": "CANCELLED"} {
			all.Go(func() {
				ends, name := sharedFile(t), "batch-"+cause+"-"+by
				id, said := submit(t, name, path, bin+"/body waits "+ends)
				if err := await(func() bool {
					text, _ := os.ReadFile(said)
					return strings.Count(string(text), "is ready in process") == 4
				}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				argv := []string{"scancel", id}
				if cause == "limit" {
					argv = []string{"scontrol", "update", "JobId=" + id, "TimeLimit=1"} // a minute, the least
				}
				if out, err := slurmCommand(t.Context(), argv...).CombinedOutput(); err != nil {
					t.Errorf("%v: %v: %s", argv, err, out)
				}
				state, out := awaitJob(t, id, said)
				if state != want {
					t.Errorf("%s: the state is %s, want %s: %s", name, state, want, out)
				}
				expectEnds(t, ends, outcome{out: fmt.Sprint(name, ": ", out)})
			})
		}
	}
	all.Wait()
	nothingLeft(t)
}
