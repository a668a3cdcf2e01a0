package main

// Inside an allocation of Slurm, which salloc and sbatch make, the hosts and their PEs are those of the allocation, and
// a step of srun on each host starts the agent.

import (
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
)

// stepTemplate starts an agent as a step. Without -u srun keeps what the agent says until it has said much. A step
// shares the CPUs of the allocation with other steps, and its only task may use them all: the agent binds the PEs. With
// SRUN_CPUS_PER_TASK, which users set for their own steps, it would be given no more than the CPUs of one task.
const stepTemplate = "env -u SRUN_CPUS_PER_TASK srun --unbuffered --quiet --overlap --nodes=1 --ntasks=1 --ntasks-per-node=1 --mpi=none --cpu-bind=none --nodelist={host}"

// allocation returns the host of each task of the allocation that env describes, or nil if it describes none. The error
// says what of it contradicts itself, or that this process is one of several that srun has started.
func allocation(env join.Environment) ([]string, error) {
	list := env["SLURM_JOB_NODELIST"]
	if list == "" {
		return nil, nil
	}
	if n := env["SLURM_STEP_NUM_TASKS"]; n != "" && n != "1" {
		return nil, fmt.Errorf("srun has started pgasrun %s times, and each would start a job: start it once, in salloc or a batch script, or start the program itself with srun", n)
	}
	nodes, err := join.ExpandNodes(list)
	if err != nil {
		return nil, fmt.Errorf("SLURM_JOB_NODELIST=%s: %w: name the hosts with -hosts", list, err)
	}
	if isArbitrary(env) {
		return listedTasks(env, nodes)
	}
	tasks := env["SLURM_TASKS_PER_NODE"]
	if tasks == "" {
		return nil, nil
	}
	counts, err := join.ExpandCounts(tasks)
	if err != nil {
		return nil, fmt.Errorf("SLURM_TASKS_PER_NODE=%s: %w: name the hosts with -hosts", tasks, err)
	}
	if len(counts) != len(nodes) {
		return nil, fmt.Errorf("SLURM_TASKS_PER_NODE=%s is of %s, but SLURM_JOB_NODELIST=%s has %d: name the hosts with -hosts", tasks, plural.Count(len(counts), "node"), list, len(nodes))
	}
	atOnce, err := tasksAtOnce(env)
	if err != nil {
		return nil, err
	}
	return dealTasks(nodes, counts, atOnce), nil
}

// fit returns the first n of the allocation's tasks.
func fit(tasks []string, n int) ([]string, error) {
	if n > len(tasks) {
		return nil, fmt.Errorf("-n %d, but the allocation is for %d tasks: ask for more (salloc -n %d), or leave -n out", n, len(tasks), n)
	}
	return tasks[:n], nil
}

// hostsOf returns the hosts of tasks in the order of their first ones, as a job that srun starts has them.
func hostsOf(tasks []string) []boot.Host {
	var hosts []boot.Host
	index := map[string]int{}
	for _, node := range tasks {
		i, ok := index[node]
		if !ok {
			i = len(hosts)
			index[node] = i
			hosts = append(hosts, boot.Host{Name: node})
		}
		hosts[i].PEs++
	}
	return hosts
}

// isRenumbered reports whether a PE of hosts has another number than the task in its place: PEs of a host have
// consecutive numbers.
func isRenumbered(hosts []boot.Host, tasks []string) bool {
	var nodes []string
	for _, h := range hosts {
		nodes = append(nodes, slices.Repeat([]string{h.Name}, h.PEs)...)
	}
	return !slices.Equal(nodes, tasks)
}
