package topo

// Dividing the CPUs of a host among its PEs, so that a PE has whole elements or a part of one: no PE spans two NUMA
// nodes if there is a PE for each, and no two PEs share a core if there is a core for each. Kernels number CPUs in many
// ways, so neighbouring numbers say nothing: on most machines with two threads a core, CPU 0 and the middle one share a
// core.

import (
	"io/fs"
	"slices"
)

// Divide divides cpus among n PEs by what sys, the host's /sys, says, and returns those of each, ascending. PEs that
// follow each other get CPUs close to each other. n must be from 1 to len(cpus). Where it says nothing, the CPUs are
// divided in the order of their numbers.
func Divide(sys fs.FS, cpus []int, n int) [][]int {
	elements := map[int][insideLevels][]int{}
	for _, cpu := range cpus {
		elements[cpu] = elementsOf(sys, cpu)
	}
	sets := divide(elements, cpus, n, 0)
	for _, s := range sets {
		slices.Sort(s)
	}
	return sets
}

// divide is Divide below a level: cpus share elements of the levels above.
func divide(elements map[int][insideLevels][]int, cpus []int, n, level int) [][]int {
	if n == 1 {
		return [][]int{slices.Clone(cpus)}
	}
	if level == insideLevels {
		return share(cpus, n, func(cpu int) []int { return []int{cpu} })
	}
	groups := groupBy(elements, cpus, level)
	if n < len(groups) {
		return share(groups, n, slices.Clone[[]int])
	}
	var sets [][]int
	for i, k := range apportion(groups, n) {
		sets = append(sets, divide(elements, groups[i], k, level+1)...)
	}
	return sets
}

// groupBy returns cpus by their element of a level. Those of no element are a group.
func groupBy(elements map[int][insideLevels][]int, cpus []int, level int) (groups [][]int) {
	at := map[int]int{}
	for _, cpu := range cpus {
		name := -1
		if e := elements[cpu][level]; len(e) > 0 {
			name = e[0]
		}
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], cpu)
	}
	return groups
}

// share gives each of n PEs neighbours of list, of nearly the same number.
func share[T any](list []T, n int, cpus func(T) []int) [][]int {
	sets := make([][]int, n)
	for i := range sets {
		for _, e := range list[i*len(list)/n : (i+1)*len(list)/n] {
			sets[i] = append(sets[i], cpus(e)...)
		}
	}
	return sets
}

// apportion returns how many of n PEs each group gets: one at least, and at most one for each of its CPUs.
func apportion(groups [][]int, n int) []int {
	pes := make([]int, len(groups))
	for i := range pes {
		pes[i] = 1
	}
	for range n - len(groups) {
		best := -1
		for i, g := range groups {
			if pes[i] < len(g) && (best < 0 || pes[i]*len(groups[best]) < pes[best]*len(g)) {
				best = i
			}
		}
		pes[best]++
	}
	return pes
}
