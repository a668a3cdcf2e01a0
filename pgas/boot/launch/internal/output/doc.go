// Package output makes one text of the output of many PEs.
//
//	lines.go   the standard output and error of a job without torn lines, and the last lines of each PE
//	bar.go     the progress of a job, below its output on a terminal
//	crash.go   the report of a PE that crashes, in one piece
package output
