package main

// Inside an allocation of Slurm, which salloc and sbatch make, the hosts and their PEs are those of the allocation, and
// a step of srun on each host starts the agent.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
)

// stepTemplate starts an agent as a step. Without -u srun keeps what the agent says until it has said much. A step
// shares the CPUs of the allocation with other steps, and its only task may use them all: the agent binds the PEs.
const stepTemplate = "srun --unbuffered --quiet --overlap --nodes=1 --ntasks=1 --ntasks-per-node=1 --mpi=none --cpu-bind=none --nodelist={host}"

// allocation returns the hosts of the allocation that env describes, or nil if it describes none. The error says what
// of it contradicts itself, or that this process is one of several that srun has started.
func allocation(env boot.Environment) ([]boot.Host, error) {
	list, tasks := env["SLURM_JOB_NODELIST"], env["SLURM_TASKS_PER_NODE"]
	if list == "" || tasks == "" {
		return nil, nil
	}
	if n := env["SLURM_STEP_NUM_TASKS"]; n != "" && n != "1" {
		return nil, fmt.Errorf("srun has started pgasrun %s times, and each would start a job: start it once, in salloc or a batch script, or start the program itself with srun", n)
	}
	nodes, err := boot.ExpandNodes(list)
	if err != nil {
		return nil, fmt.Errorf("SLURM_JOB_NODELIST=%s: %w: name the hosts with -hosts", list, err)
	}
	counts, err := boot.ExpandCounts(tasks)
	if err != nil {
		return nil, fmt.Errorf("SLURM_TASKS_PER_NODE=%s: %w: name the hosts with -hosts", tasks, err)
	}
	if len(counts) != len(nodes) {
		return nil, fmt.Errorf("SLURM_TASKS_PER_NODE=%s is of %d nodes, but SLURM_JOB_NODELIST=%s has %d: name the hosts with -hosts", tasks, len(counts), list, len(nodes))
	}
	var hosts []boot.Host
	for i, node := range nodes {
		if counts[i] > 0 {
			hosts = append(hosts, boot.Host{Name: node, PEs: counts[i]})
		}
	}
	return hosts, nil
}

// fit returns the hosts of an allocation that n PEs fill, one after the other.
func fit(hosts []boot.Host, n int) ([]boot.Host, error) {
	slots, left := 0, n
	var used []boot.Host
	for _, h := range hosts {
		slots += h.PEs
		if h.PEs = min(h.PEs, left); h.PEs > 0 {
			used = append(used, h)
			left -= h.PEs
		}
	}
	if left > 0 {
		return nil, fmt.Errorf("-n %d, but the allocation is for %d tasks: ask for more (salloc -n %d), or leave -n out", n, slots, n)
	}
	return used, nil
}
