package main

// Which node of an allocation each of its tasks is for, as `--distribution` says and srun does it: block fills one node
// after the other, cyclic deals tasks to the nodes in turn, plane=N deals N at a time, and arbitrary reads the node of
// each task from the file that SLURM_HOSTFILE names.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
)

const hostfileVariable = "SLURM_HOSTFILE"

// isArbitrary reports whether a file has the node of each task. Such a file outranks any distribution, as it does for
// srun.
func isArbitrary(env join.Environment) bool {
	return env[hostfileVariable] != "" || strings.HasPrefix(env["SLURM_DISTRIBUTION"], "arbitrary")
}

// distribution returns what Slurm was asked for.
func distribution(env join.Environment) string {
	if isArbitrary(env) {
		return "arbitrary"
	}
	return env["SLURM_DISTRIBUTION"]
}

// tasksAtOnce returns how many tasks a node gets before it is the turn of the next: 0 for as many as it has.
func tasksAtOnce(env join.Environment) (int, error) {
	distribution := env["SLURM_DISTRIBUTION"] // of nodes, then of sockets and cores after a colon
	switch {
	case strings.HasPrefix(distribution, "cyclic"):
		return 1, nil
	case strings.HasPrefix(distribution, "plane"):
		size := env["SLURM_DIST_PLANESIZE"]
		if _, after, given := strings.Cut(distribution, "="); given {
			size = after
		}
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("SLURM_DISTRIBUTION=%s, but SLURM_DIST_PLANESIZE=%s is not the number of tasks of a plane: ask for --distribution=plane=2, or name the hosts with -hosts", distribution, size)
		}
		return n, nil
	}
	return 0, nil
}

// dealTasks deals tasks to nodes in turn, atOnce at a time, until each has as many as counts says.
func dealTasks(nodes []string, counts []int, atOnce int) []string {
	left := slices.Clone(counts)
	var tasks []string
	for dealt := true; dealt; {
		dealt = false
		for i, node := range nodes {
			n := left[i]
			if atOnce > 0 {
				n = min(n, atOnce)
			}
			tasks = append(tasks, slices.Repeat([]string{node}, n)...)
			left[i] -= n
			dealt = dealt || n > 0
		}
	}
	return tasks
}

// listedTasks returns the nodes that the file of an arbitrary distribution has for the tasks of the allocation. sbatch
// does not say how many tasks each node has then.
func listedTasks(env join.Environment, nodes []string) ([]string, error) {
	path := env[hostfileVariable]
	if path == "" {
		return nil, fmt.Errorf("SLURM_DISTRIBUTION=%s, but %s names no file with the node of each task: set it, or name the hosts with -hosts", env["SLURM_DISTRIBUTION"], hostfileVariable)
	}
	text, err := boot.ReadRegular(path, join.MaxHostFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: set it to the file with the node of each task, or name the hosts with -hosts", hostfileVariable, err)
	}
	tasks, err := parseTasks(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", hostfileVariable, path, err)
	}
	for _, node := range tasks {
		if !slices.Contains(nodes, node) {
			return nil, fmt.Errorf("%s=%s names %s, which is not of the allocation (%s): correct the file, or name the hosts with -hosts", hostfileVariable, path, node, env["SLURM_JOB_NODELIST"])
		}
	}
	if n, err := strconv.Atoi(env["SLURM_NTASKS"]); err == nil && n < len(tasks) {
		tasks = tasks[:n]
	}
	return tasks, nil
}

// parseTasks reads the nodes of a file: one a line or several with commas, each perhaps with *N for N tasks. A # begins
// a comment.
func parseTasks(text string) ([]string, error) {
	var tasks []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		list, times, repeated := strings.Cut(line, "*")
		n := 1
		if repeated {
			var err error
			if n, err = strconv.Atoi(times); err != nil || n < 1 || n > boot.MaxPEs {
				return nil, fmt.Errorf("%q is not a node and its number of tasks: write usr0*2", line)
			}
		}
		nodes, err := join.ExpandNodes(list)
		if err != nil {
			return nil, err
		}
		if n*len(nodes) > boot.MaxPEs-len(tasks) {
			return nil, fmt.Errorf("it has more than %d tasks", boot.MaxPEs)
		}
		for range n {
			tasks = append(tasks, nodes...)
		}
	}
	if len(tasks) == 0 {
		return nil, errors.New("it names no node: write the node of one task a line")
	}
	return tasks, nil
}
