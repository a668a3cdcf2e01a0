// Package dsmbench measures coherent memory: `pgasbench dsm`, on the PEs of a job or in the simulator.
//
// On a job it measures page faults, views, releases and barriers, each beside an operation of package pgas in the same
// loop: benches.go is their table, faults.go, fences.go, accesses.go and merge.go have them, real.go measures one, and
// run.go runs those that the command line names.
//
// In the simulator it runs skeletons of the NAS Parallel Benchmarks at the sizes of the paper on MENPS: which blocks
// each phase of a program reads and writes, with the computing as waiting. skeleton.go says what a skeleton can do,
// programs.go has the five programs, point.go and grid.go what is varied, outcome.go what comes of it, simulate.go runs
// them, and figures.go names the points of the paper's figures. output.go and plot.go show; options.go is the command
// line, with what package sweep has of it.
//
//ci:computes
package dsmbench
