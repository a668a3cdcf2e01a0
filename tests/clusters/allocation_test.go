package clusters

// pgasrun inside an allocation of Slurm.

import (
	"os/exec"
	"testing"
)

// salloc returns a command that runs another in an allocation of both nodes, with two tasks on each.
func salloc(t *testing.T, name string, args ...string) *exec.Cmd {
	argv := append([]string{"salloc", "-Q", "-N2", "--ntasks-per-node=2", "-s", "-J", name}, args...)
	return slurmCommand(hangContext(t), argv...)
}

// inAllocation is pgasrun in an allocation. When a slurmstepd is killed, the srun that has started the agent there
// waits for it, and ends when pgasrun kills it. What tells pgasrun is the agent of the other host, which has lost its
// connection.
var inAllocation = launcher{
	name: "pgasrun in salloc",
	need: needSlurm,
	start: func(t *testing.T, job string, argv ...string) []*exec.Cmd {
		cmd := salloc(t, job, append([]string{bin + "/pgasrun"}, argv...)...)
		cmd.Env = append(cmd.Env, "PGAS_PEER_TIMEOUT=3s")
		return []*exec.Cmd{cmd}
	},
	cancel: scancel,
	daemon: "slurmstepd",
	report: []string{"pgasrun: PE 1 on host usr0 (process ", "was killed by signal 9 (SIGKILL)"},
}

// TestAllocation: pgasrun takes hosts and PEs from the allocation.
func TestAllocation(t *testing.T) {
	needSlurm(t)
	job := func(name string, args ...string) outcome {
		args = append([]string{bin + "/pgasrun"}, args...)
		return run(t, salloc(t, name, args...))
	}
	expectHello(t, job("fewer", "-n", "3", bin+"/body"), 3)
	expect(t, job("more", "-n", "5", bin+"/body"), 2, "-n 5, but the allocation is for 4 tasks: ask for more (salloc -n 5), or leave -n out")
	expect(t, run(t, salloc(t, "shell", bin+"/body")), 0, "hello from PE 0 of 1", "started without a launcher")
	expect(t, run(t, srun(hangContext(t), "none", "-n2", bin+"/pgasrun", bin+"/body")), 2, "srun has started pgasrun 2 times, and each would start a job")
	nothingLeft(t)
}
