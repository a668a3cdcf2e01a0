package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

func TestAllocation(t *testing.T) {
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
	} {
		hosts, err := allocation(boot.NewEnvironment(strings.Fields(c.env)))
		var n int
		if _, scan := fmt.Sscan(c.n, &n); scan == nil && err == nil {
			hosts, err = fit(hosts, n)
		}
		if err == nil && fmt.Sprint(hosts) != c.want || err != nil && (c.err == "" || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s -n %s: %v, %v; want %s%s", c.env, c.n, hosts, err, c.want, c.err)
		}
	}
}
