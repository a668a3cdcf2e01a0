// Package boot is the memory that the PEs of a host share, and the contract between a launcher and pgas.Init: which PE
// this process is, which hosts the job has, and what a PE publishes for its launcher.
//
// A Job holds everything that a PE knows before it has communicated. Package join makes one; a test makes one by hand.
// This package knows nothing of UCX, opens no connection and starts no process.
//
// The contract:
//
//	job.go               a PE's place in its job, and the interfaces of the exchange and of a member
//	handoff.go           the variables by which an agent hands a job down to its PEs, written and read
//	env.go               the settings, and the table of all variables
//	env_table.go         that table as users see it
//	end.go               why a PE ends
//	died.go              how a PE's process ended, as an error
//	exit.go              a PE that ends the whole job
//	accuse.go            a PE that accuses a silent one
//	profiles.go          how profiles reach the launcher
//	progress.go          how the launcher shows the progress of a job
//
// The memory:
//
//	segment.go           the layout of the segment of a host
//	segment_unsafe.go    making and mapping a segment
//	gomemory_unsafe.go   Go memory for the segment of PEs that are goroutines
//	map_unsafe.go        ranges of addresses for a segment
//	reserved.go          the map of each heap's start
//	text.go              a text that a PE publishes
//	doorbell.go          how PEs wake each other
//	doorbell_unsafe.go   the futex below a doorbell
//	contention.go        when waiting PEs do not yield their CPUs
//	guard_unsafe.go      the checks of PGAS_CHECK: freed memory is not mapped
//	discard.go           giving back memory that is not used any more
//	detector_norace.go   hiding words of the runtime from a race detector: there is none
//	detector_race.go     the same, where there is one
//
// What a host allows:
//
//	limits.go            what the limits of a process leave for heaps
//	groups.go            what control groups leave of memory and CPUs
//	openfiles.go         how many files a process may open
//	files.go             files that a variable or a flag names
//
//ci:below nocgo=whole
package boot
