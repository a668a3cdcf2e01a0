package clusters

// pgasrun inside an allocation of Slurm.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

// salloc returns a command that runs another in an allocation of both nodes, with two tasks on each.
func salloc(t *testing.T, name string, args ...string) *exec.Cmd {
	argv := append([]string{"salloc", "-Q", "-N2", "--ntasks-per-node=2", "-s", "-J", name}, args...)
	return slurmCommand(hangContext(t), argv...)
}

// TestAllocation: pgasrun takes hosts and PEs from the allocation, and its promises hold.
func TestAllocation(t *testing.T) {
	needSlurm(t)
	job := func(name string, args ...string) outcome {
		args = append([]string{bin + "/pgasrun"}, args...)
		return run(t, salloc(t, name, args...))
	}
	expectHello(t, job("plain", bin+"/body"), 4)
	expectHello(t, job("fewer", "-n", "3", bin+"/body"), 3)
	expect(t, job("more", "-n", "5", bin+"/body"), 2, "-n 5, but the allocation is for 4 tasks: ask for more (salloc -n 5), or leave -n out")
	expect(t, job("locks", bin+"/body", "locks"), 0, "the lock holds\n")
	expect(t, job("wordcount", bin+"/wordcount", "-verify", "-input", "../../locks"), 0, "verified: ")
	expectNews(t, job("killed", bin+"/body", "killed"), 4)
	expect(t, job("exits", bin+"/body", "exits"), 7)
	expect(t, run(t, salloc(t, "shell", bin+"/body")), 0, "hello from PE 0 of 1", "started without a launcher")
	expect(t, run(t, srun(hangContext(t), "none", "-n2", bin+"/pgasrun", bin+"/body")), 2, "srun has started pgasrun 2 times, and each would start a job")
	nothingLeft(t)
}

// TestAllocationCancelled: scancel ends the contexts of a job of pgasrun, and nothing is left.
func TestAllocationCancelled(t *testing.T) {
	needSlurm(t)
	o := disturb(t, salloc(t, "cancelled", bin+"/pgasrun", bin+"/body", "waits"), 4, func() {
		if out, err := slurmCommand(t.Context(), "scancel", "-n", "cancelled").CombinedOutput(); err != nil {
			t.Errorf("scancel: %v: %s", err, out)
		}
	})
	expect(t, o, failing, "PE 0: ", "PE 3: ")
	nothingLeft(t)
}

// TestBatchScript: the script of the starter project runs its program, and ends its contexts before the time limit.
func TestBatchScript(t *testing.T) {
	needSlurm(t)
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "batch")
	script, err := os.ReadFile(filepath.Join(root, "templates/starter/job.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	// The body stands for the starter program: it tells what becomes of its context.
	text := strings.ReplaceAll(string(script), "./starter", bin+"/body hello")
	for _, path := range []string{os.Getenv("PATH"), bin + ":" + os.Getenv("PATH")} {
		if err := os.WriteFile(filepath.Join(work, "job.sbatch"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := slurmCommand(hangContext(t), "sbatch", "-W", "-s", "-D", work, "-o", filepath.Join(work, "out"), filepath.Join(work, "job.sbatch"))
		cmd.Env = append(cmd.Env, "PATH="+path)
		o := run(t, cmd)
		out, err := os.ReadFile(filepath.Join(work, "out"))
		if err != nil {
			t.Fatalf("%v: %v", err, o)
		}
		o.out += string(out)
		expectHello(t, o, 4)
	}
	nothingLeft(t)
}
