package clusters

// Where the PEs of an allocation run. srun, with each plugin, and pgasrun give the same PEs to the same nodes, however
// the allocation distributes its tasks. With -n for a part of it, pgasrun takes the first tasks.

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// renumbered is what pgasrun says when tasks of a node have no consecutive numbers.
const renumbered = "gives it, but PEs of a node have consecutive numbers"

// TestPlacement: a job of sbatch runs the body with each launcher.
func TestPlacement(t *testing.T) {
	needSlurm(t)
	for _, c := range []struct {
		name, options, n string
		hostfile         string
		want             string // the node of each PE
		bySrun           string // the same under srun, if that differs
		renumbered       bool
	}{
		{name: "uneven", options: "-N2 -n4", want: "usr0 usr0 usr0 usr1"},
		{name: "cyclic", options: "-N2 --ntasks-per-node=2 -m cyclic", want: "usr0 usr0 usr1 usr1", renumbered: true},
		{name: "plane", options: "-N2 -n5 -m plane=3", want: "usr0 usr0 usr0 usr0 usr1", renumbered: true},
		// srun balances what is a part
		{name: "part of block", options: "-N2 --ntasks-per-node=3 -m block", n: "-n4", want: "usr0 usr0 usr0 usr1", bySrun: "usr0 usr0 usr1 usr1"},
		{name: "part of cyclic", options: "-N2 --ntasks-per-node=3 -m cyclic", n: "-n4", want: "usr0 usr0 usr1 usr1", renumbered: true},
		{name: "part of planes", options: "-N2 --ntasks-per-node=4 -m plane=2", n: "-n6", want: "usr0 usr0 usr0 usr0 usr1 usr1", renumbered: true},
		{name: "arbitrary", options: "-n4 -m arbitrary", hostfile: "usr1\nusr0\nusr1\nusr1\n", want: "usr1 usr1 usr1 usr0", renumbered: true},
		{name: "arbitrary in blocks", options: "-n3 -m arbitrary", hostfile: "usr1\nusr1\nusr0\n", want: "usr1 usr1 usr0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := "#!/bin/sh\n"
			for _, mpi := range plugins {
				script += fmt.Sprintf("echo %s:\nsrun --mpi=%s %s %s/body where\n", mpi, mpi, c.n, bin)
			}
			script += fmt.Sprintf("echo pgasrun:\n%s/pgasrun %s %s/body where\n", bin, strings.Replace(c.n, "-n", "-n ", 1), bin)
			out := batch(t, script, c.hostfile, strings.Fields(c.options)...)
			for _, mpi := range plugins {
				if got, want := placed(out, mpi), cmp.Or(c.bySrun, c.want); got != want {
					t.Errorf("srun %s: the PEs are on %q, want %q", mpi, got, want)
				}
			}
			if got := placed(out, "pgasrun"); got != c.want {
				t.Errorf("pgasrun: the PEs are on %q, want %q", got, c.want)
			}
			if strings.Contains(out, renumbered) != c.renumbered {
				t.Errorf("want that pgasrun says %q: %v", renumbered, c.renumbered)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	nothingLeft(t)
}

// batch runs a script as a job and returns what it has printed. hostfile is the content of SLURM_HOSTFILE, if any.
func batch(t *testing.T, script, hostfile string, options ...string) string {
	t.Helper()
	work, err := os.MkdirTemp(dir, "batch")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(work, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	said := filepath.Join(work, "out")
	argv := append([]string{"sbatch", "-s", "-D", work, "-o", said}, options...)
	// sbatch -W would look every 10 s
	cmd := slurmCommand(hangContext(t), append(argv, file("job", script+"echo "+scriptEnded+"\n"))...)
	if hostfile != "" {
		cmd.Env = append(cmd.Env, "SLURM_HOSTFILE="+file("hosts", hostfile))
	}
	if o := run(t, cmd); o.status != 0 {
		t.Fatal(o)
	}
	out, ended := "", false
	if err := await(func() bool {
		text, _ := os.ReadFile(said)
		out, ended = strings.CutSuffix(string(text), scriptEnded+"\n")
		return ended
	}); err != nil {
		t.Errorf("the job does not end: %v: %s", err, out)
	}
	return out
}

const scriptEnded = "The script has ended."

var wherePE = regexp.MustCompile(`(?m)^PE (\d+) runs on host (\S+)$`)

// placed returns the node of each PE of a launcher, whose lines follow its name.
func placed(out, launcher string) string {
	_, lines, _ := strings.Cut(out, launcher+":\n")
	if end := strings.Index(lines, ":\n"); end >= 0 { // of the next launcher
		lines = lines[:end]
	}
	var pes []string
	for _, m := range wherePE.FindAllStringSubmatch(lines, -1) {
		pes = append(pes, fmt.Sprintf("%4s %s", m[1], m[2]))
	}
	slices.Sort(pes)
	for i := range pes {
		_, pes[i], _ = strings.Cut(strings.TrimSpace(pes[i]), " ")
	}
	return strings.Join(pes, " ")
}

// TestArbitraryWithoutFile: Slurm no longer says which node each task is for.
func TestArbitraryWithoutFile(t *testing.T) {
	needSlurm(t)
	script := "#!/bin/sh\nunset SLURM_HOSTFILE\n" + bin + "/pgasrun " + bin + "/body\n"
	out := batch(t, script, "usr1\nusr0\nusr1\n", "-n3", "-m", "arbitrary")
	if want := "pgasrun: SLURM_DISTRIBUTION=arbitrary, but SLURM_HOSTFILE names no file with the node of each task: set it, or name the hosts with -hosts\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	nothingLeft(t)
}

// TestAllocationCPUs: with --cpus-per-task a job has a PE for each task, not for each CPU, and divides the CPUs that it
// may use on a node among them. Here Slurm confines no step, since its plugins for that do not know which CPUs this
// machine has.
func TestAllocationCPUs(t *testing.T) {
	needSlurm(t)
	mine := boot.AllowedCPUs()
	if len(mine) != 2 {
		t.Skipf("this machine has %d CPUs for the tests, and it is with 2 that two PEs have one each", len(mine))
	}
	o := run(t, slurmCommand(hangContext(t), "salloc", "-Q", "-N2", "--ntasks-per-node=2", "-c4", "-s", bin+"/pgasrun", bin+"/body", "cpus"))
	for pe := range 4 {
		expect(t, o, 0, fmt.Sprintf("PE %d runs on CPUs %d\n", pe, mine[pe%2]))
	}
	if n := strings.Count(o.out, "runs on CPUs"); n != 4 {
		t.Errorf("%d PEs: %v", n, o)
	}
	nothingLeft(t)
}

var stepCPUs = regexp.MustCompile(`StepId=\d+\.\d+ (?s:.*?) CPUs=(\d+) `)

// TestStepCPUs: the step of an agent has all CPUs of the allocation on its node, 8 of which are for two tasks of 4,
// although the user has set SRUN_CPUS_PER_TASK, as Slurm advises for steps of one's own.
func TestStepCPUs(t *testing.T) {
	needSlurm(t)
	cmd := slurmCommand(hangContext(t), "salloc", "-Q", "-N2", "--ntasks-per-node=2", "-c4", "-s", "-J", "cpus", bin+"/pgasrun", bin+"/body", "waits")
	cmd.Env = append(cmd.Env, "SRUN_CPUS_PER_TASK=4")
	disturb(t, []*exec.Cmd{cmd}, 4, func(map[int]int) {
		out, err := slurmCommand(t.Context(), "scontrol", "show", "step", idOf(t, "cpus")).Output()
		steps := stepCPUs.FindAllSubmatch(out, -1)
		if err != nil || len(steps) != 2 || string(steps[0][1]) != "8" || string(steps[1][1]) != "8" {
			t.Errorf("%v: want two steps with 8 CPUs:\n%s", err, out)
		}
		scancel(t, "cpus", nil)
	})
	nothingLeft(t)
}
