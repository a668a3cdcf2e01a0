package clusters

// The end of an allocation's time, and a job that Slurm starts again. Slurm takes half a minute and two minutes for these, so
// they run with -long alone: `go test ./tests/clusters -run 'TestTimeLimit|TestRequeue' -long`.

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var long = flag.Bool("long", false, "also test what Slurm takes minutes for")

func needLong(t *testing.T) {
	if !*long {
		t.Skip("Slurm takes half a minute or more: run it with -long")
	}
}

// idOf returns the number of a job that Slurm has.
func idOf(t *testing.T, name string) string {
	t.Helper()
	out, err := slurmCommand(t.Context(), "squeue", "-h", "-n", name, "-o", "%i").Output()
	if err != nil {
		t.Errorf("squeue: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestTimeLimit: the end of an allocation's time ends the contexts of the bodies, under srun and under pgasrun, and nothing
// is left. slurmctld looks for jobs whose time is over twice a minute, so both wait at once.
func TestTimeLimit(t *testing.T) {
	needLong(t)
	needSlurm(t)
	var both sync.WaitGroup
	ended := map[string]*outcome{"limit-srun": {}, "limit-pgasrun": {}}
	for name, cmd := range map[string]*exec.Cmd{
		"limit-srun":    slurmCommand(hangContext(t), "srun", "-N2", "-n4", "-s", "--mpi=none", "-J", "limit-srun", bin+"/body", "waits"),
		"limit-pgasrun": salloc(t, "limit-pgasrun", bin+"/pgasrun", bin+"/body", "waits"),
	} {
		both.Go(func() {
			*ended[name] = disturb(t, cmd, 4, func() {
				if out, err := slurmCommand(t.Context(), "scontrol", "update", "JobId="+idOf(t, name), "EndTime=now").CombinedOutput(); err != nil {
					t.Errorf("scontrol: %v: %s", err, out)
				}
			})
		})
	}
	both.Wait()
	for _, o := range ended {
		expect(t, *o, failing, "PE 0: terminated", "PE 3: terminated")
	}
	expect(t, *ended["limit-srun"], failing, "DUE TO TIME LIMIT")
	nothingLeft(t)
}

// TestRequeue: a job that Slurm puts back into its queue ends its contexts, and starts anew.
func TestRequeue(t *testing.T) {
	needLong(t)
	needSlurm(t)
	work := filepath.Join(dir, "requeue")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nverb=waits\n[ -z \"$SLURM_RESTART_COUNT\" ] || verb=hello\nexec srun --mpi=none " + bin + "/body $verb\n"
	file, said := filepath.Join(work, "job"), filepath.Join(work, "out")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := slurmCommand(hangContext(t), "sbatch", "-N2", "--ntasks-per-node=2", "-s", "--requeue", "-J", "requeue", "--open-mode=append", "-D", work, "-o", said, file).CombinedOutput()
	if err != nil {
		t.Fatalf("sbatch: %v: %s", err, out)
	}
	count := func(what string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(said)
			return strings.Count(string(text), what) == 4
		}
	}
	if err := await(count("is ready in process")); err != nil {
		t.Fatal(err)
	}
	if out, err := slurmCommand(t.Context(), "scontrol", "requeue", idOf(t, "requeue")).CombinedOutput(); err != nil {
		t.Fatalf("scontrol: %v: %s", err, out)
	}
	for range 4 { // minutes
		if err = await(count("hello from PE")); err == nil {
			break
		}
	}
	text, _ := os.ReadFile(said)
	if ended := regexp.MustCompile(`(?m)^PE \d: terminated`).FindAll(text, -1); err != nil || len(ended) != 4 {
		t.Errorf("%v: it has printed:\n%s", err, text)
	}
	nothingLeft(t)
}
