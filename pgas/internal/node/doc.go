// Package node is one PE as the runtime sees it: its memory, its channels, how it waits, and what it shows while it waits. It
// knows nothing of teams and of the contexts of a program.
//
// The files, bottom up:
//
//	node.go              the Node: its job, heap, transports and settings
//	memory_unsafe.go     addresses in heaps, copies
//	channels.go          the channels of the runtime's own messages
//	names.go             names of words of the heap, for messages
//	cond_unsafe.go       what a wait waits for: a word and a comparison
//	wordset_unsafe.go    the same for many words
//	waiters.go           goroutines of the PE that wait at the same time share its processors
//	clock.go             time, randomness and goroutines: real or the simulator's
//	notequeue.go         notes that have arrived, and congestion.go: more of them than may be kept
//	peek.go              reads of other PEs' words, for diagnoses
//	edge_unsafe.go       for which PE and call this PE waits, for other PEs
//	leaving_unsafe.go    that this PE leaves the job, for other PEs
//	blocked.go           what a blocked PE shows, and why a wait cannot end
//	wait.go              the wait: poll, yield, sleep
//	wait_scheduled.go    the wait in the simulator
package node
