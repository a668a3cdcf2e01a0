package main

// The table of benches.

import (
	"fmt"
	"slices"
)

// benches is the table, in the order in which they run.
var benches = slices.Concat(benchesOfOperations, benchesOfNotes, benchesOfLocks())

var benchesOfOperations = []bench{
	{"put", "put to one PE, quiet at the end", everySize, false, putTask},
	{"put-quiet", "put and wait until it is complete there", everySize, false, putQuietTask},
	{"get", "blocking get", everySize, false, getTask},
	{"rate", "non-blocking puts, a quiet every 64", sizes{1, 1024, 1}, false, rateTask},
	{"bandwidth", "non-blocking puts, a quiet every 64", everySize, false, bandwidthTask},
	{"signal-pingpong", "put with signal there and back, one way", sizes{8, mostBytes, 1}, true, signalTask},
	{"flag-pingpong", "put, fence, flag there and back, one way; 8 bytes are the flag itself", sizes{8, mostBytes, 1}, true, flagTask},
	{"call", "a word to the partner and its answer, by a goroutine of each PE, while another serves the partner", oneWord, true, callTask},
	{"fetch-add", "atomic add that returns the old value", oneWord, false, fetchAddTask},
	{"compare-swap", "atomic compare-and-swap that happens", oneWord, false, compareSwapTask},
	{"swap", "atomic swap", oneWord, false, swapTask},
	{"fetch", "atomic read", oneWord, false, fetchTask},
	{"barrier", "barrier of all PEs", sizeless, false, barrierTask},
	{"broadcast", "broadcast of a message to all PEs, from each PE in turn", words, false, broadcastTask},
	{"fcollect", "collect a block of each PE, all of one length", words, false, fcollectTask},
	{"collect", "collect where lengths may differ", words, false, collectTask},
	{"alltoall", "send each PE a block of its own", words, false, alltoallTask},
	{"sum", "sum of a vector of 64-bit integers of each PE", words, false, sumTask},
	{"copy", "copy from one mapping of shared memory to another, without pgas: the floor of put", everySize, false, copyTask},
	{"idle", "memory of a PE that does nothing (only when asked for by name)", sizeless, false, nil},
}

func benchNames() []string {
	names := make([]string, len(benches))
	for i, b := range benches {
		names[i] = b.name
	}
	return names
}

// list returns a line for each bench.
func list() string {
	text := ""
	for _, b := range benches {
		text += fmt.Sprintf("%-16s %s\n", b.name, b.doc)
	}
	return text
}

func benchNamed(name string) bench {
	i := slices.IndexFunc(benches, func(b bench) bool { return b.name == name })
	if i < 0 {
		panic("pgasbench: no bench " + name)
	}
	return benches[i]
}
