package clusters

// The end of an allocation's time, and a job that Slurm starts again.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// idOf returns the number of a job that Slurm has.
func idOf(t *testing.T, name string) string {
	t.Helper()
	out, err := slurmCommand(t.Context(), "squeue", "-h", "-n", name, "-o", "%i").Output()
	if err != nil {
		t.Errorf("squeue: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestTimeLimit: the end of an allocation's time ends the contexts of the bodies, under srun and under pgasrun, and
// nothing is left. slurmctld looks for jobs whose time is over twice a minute, so both wait at once.
func TestTimeLimit(t *testing.T) {
	needSlurm(t)
	var both sync.WaitGroup
	ended := map[string]*outcome{"limit-srun": {}, "limit-pgasrun": {}}
	for name, cmd := range map[string]*exec.Cmd{
		"limit-srun":    slurmCommand(hangContext(t), "srun", "-N2", "-n4", "-s", "--mpi=none", "-J", "limit-srun", bin+"/body", "waits"),
		"limit-pgasrun": salloc(t, "limit-pgasrun", bin+"/pgasrun", bin+"/body", "waits"),
	} {
		both.Go(func() {
			*ended[name] = disturb(t, []*exec.Cmd{cmd}, 4, func(map[int]int) {
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
	id, again := idOf(t, "requeue"), count("hello from PE") // squeue may not list the job while it is put back
	if out, err := slurmCommand(t.Context(), "scontrol", "requeue", id).CombinedOutput(); err != nil {
		t.Fatalf("scontrol: %v: %s", err, out)
	}
	err = await(func() bool { return hasten(t, id) })
	if err == nil {
		err = await(again)
	}
	text, _ := os.ReadFile(said)
	if ended := regexp.MustCompile(`(?m)^PE \d: terminated`).FindAll(text, -1); err != nil || len(ended) != 4 {
		t.Errorf("%v: it has printed:\n%s", err, text)
	}
	nothingLeft(t)
}

// hasten has Slurm start a job in two seconds that it has put back into its queue, and reports whether it will: by
// itself it waits for two minutes. In the second of the job's end no node would take it: slurmd has just revoked its
// credential.
func hasten(t *testing.T, id string) bool {
	job, err := slurmCommand(t.Context(), "scontrol", "show", "job", id).Output()
	if err != nil || !strings.Contains(string(job), "JobState=PENDING") || !strings.Contains(string(job), "Restarts=1") {
		return false
	}
	return slurmCommand(t.Context(), "scontrol", "update", "JobId="+id, "StartTime=now+2").Run() == nil
}
