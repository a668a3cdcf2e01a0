package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot/join"
)

func TestAllocation(t *testing.T) {
	files := 0
	file := func(text string) string {
		files++
		path := filepath.Join(t.TempDir(), fmt.Sprint(files))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nodes := "SLURM_JOB_NODELIST=n[1-3] SLURM_TASKS_PER_NODE="
	for _, c := range []struct{ env, n, want, err string }{
		{"", "", "[]", ""},
		{nodes + "2(x2),1", "", "[{n1 0 2} {n2 0 2} {n3 0 1}]", ""},
		{nodes + "2(x2),0", "", "[{n1 0 2} {n2 0 2}]", ""},
		{nodes + "2(x3)", "3", "[{n1 0 2} {n2 0 1}]", ""},
		{nodes + "2(x3)", "7", "", "-n 7, but the allocation is for 6 tasks"},
		{nodes + "2(x2)", "", "", "is of 2 nodes, but SLURM_JOB_NODELIST=n[1-3] has 3"},
		{nodes + "x", "", "", "is not a number of tasks"},
		{"SLURM_JOB_NODELIST=n[ SLURM_TASKS_PER_NODE=1", "", "", "has a bracket without its end"},
		{nodes + "1(x3) SLURM_STEP_NUM_TASKS=3", "", "", "srun has started pgasrun 3 times"},
		{nodes + "1(x3) SLURM_STEP_NUM_TASKS=1", "", "[{n1 0 1} {n2 0 1} {n3 0 1}]", ""},
		// The order of the hosts is that of their first tasks, and -n takes the first tasks.
		{nodes + "3,3,1 SLURM_DISTRIBUTION=cyclic", "", "[{n1 0 3} {n2 0 3} {n3 0 1}]", ""},
		{nodes + "3,3,1 SLURM_DISTRIBUTION=block:cyclic", "4", "[{n1 0 3} {n2 0 1}]", ""},
		{nodes + "3,3,1 SLURM_DISTRIBUTION=cyclic:block", "4", "[{n1 0 2} {n2 0 1} {n3 0 1}]", ""},
		{nodes + "4(x3) SLURM_DISTRIBUTION=plane SLURM_DIST_PLANESIZE=2", "7", "[{n1 0 3} {n2 0 2} {n3 0 2}]", ""},
		{nodes + "4(x3) SLURM_DISTRIBUTION=plane=3", "7", "[{n1 0 3} {n2 0 3} {n3 0 1}]", ""},
		{nodes + "4(x3) SLURM_DISTRIBUTION=plane", "", "", "SLURM_DIST_PLANESIZE= is not the number of tasks of a plane"},
		{nodes + "1(x3) SLURM_DISTRIBUTION=arbitrary", "", "", "SLURM_HOSTFILE names no file with the node of each task"},
		{nodes + "1(x3) SLURM_HOSTFILE=none", "", "", "SLURM_HOSTFILE: open none: no such file or directory"},
		{nodes + "2(x3) SLURM_HOSTFILE=" + file("n3\nn1*2 # a comment\n\nn2,n3\n"), "", "[{n3 0 2} {n1 0 2} {n2 0 1}]", ""},
		{nodes + "2(x3) SLURM_NTASKS=2 SLURM_HOSTFILE=" + file("n3\nn1\nn2\n"), "", "[{n3 0 1} {n1 0 1}]", ""},
		{nodes + " SLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE=" + file("n2\nn2\nn1\n"), "", "[{n2 0 2} {n1 0 1}]", ""}, // sbatch
		{nodes + "2(x3) SLURM_HOSTFILE=" + file("n4\n"), "", "", "names n4, which is not of the allocation (n[1-3])"},
		{nodes + "2(x3) SLURM_HOSTFILE=" + file("n1*x\n"), "", "", "write usr0*2"},
		{nodes + "2(x3) SLURM_HOSTFILE=" + file("# none\n"), "", "", "it names no node"},
	} {
		tasks, err := allocation(join.NewEnvironment(strings.Fields(c.env)))
		var n int
		if _, scan := fmt.Sscan(c.n, &n); scan == nil && err == nil {
			tasks, err = fit(tasks, n)
		}
		hosts := hostsOf(tasks)
		if err == nil && fmt.Sprint(hosts) != c.want || err != nil && (c.err == "" || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s -n %s: %v, %v; want %s%s", c.env, c.n, hosts, err, c.want, c.err)
		}
	}
}

// TestRenumbered: only a distribution that is no block deals numbers that PEs cannot have.
func TestRenumbered(t *testing.T) {
	nodes := []string{"a", "b"}
	for atOnce, want := range map[int]bool{0: false, 1: true, 2: true, 3: false} {
		tasks := dealTasks(nodes, []int{3, 2}, atOnce)
		if got := isRenumbered(hostsOf(tasks), tasks); got != want {
			t.Errorf("%d at once: %v: %v", atOnce, tasks, got)
		}
	}
}
