// Package node is one PE as the runtime sees it: its memory, its channels, how it waits, and what it shows while it
// waits. It knows nothing of teams and of the contexts of a program.
//
// The files, bottom up:
//
//	policy.go            how long a PE polls, yields and sleeps
//	cache.go             how much of the CPUs' last cache is this machine's
//	waiters.go           goroutines of the PE that wait at the same time share its processors
//	party.go             what a wait can be part of, and what it then publishes
//	scanstarts.go        where scans of sets of words start
//	names.go             the names of the words of a heap
//	memory_unsafe.go     sizes, copies
//	node.go              the Node: its job, heap, transports and settings
//	heap_unsafe.go       addresses in the own heap
//	time.go              time and randomness: real or the simulator's
//	yields.go            yields of the CPU, and what they cost
//	wordnames.go         how messages call a word
//	wordset_unsafe.go    what a wait for many words waits for
//	cond_unsafe.go       what a wait waits for: a word and a comparison, or many words
//	notequeue.go         notes that have arrived
//	congestion.go        more notes than may be kept
//	failure.go           why a wait cannot succeed
//	edge_unsafe.go       for which PE and call this PE waits, for other PEs
//	purpose.go           what a wait is for, where a layer above knows better
//	blocked.go           what a blocked PE shows, and why a wait cannot end
//	clock.go             sleeps, yields, goroutines
//	timer.go             the time of a sleep; timer_race.go is that under the race detector
//	record.go            what the PE records of itself; recordnames.go remembers the names in it
//	recorded*.go         channels that record what goes through them
//	channels.go          the channels of the runtime's own messages
//	peek.go              reads of other PEs' words, for diagnoses
//	leaving_unsafe.go    that this PE leaves the job, for other PEs
//	stalled.go           whether all of the program waits, and nothing moves
//	wait_scheduled.go    the wait in the simulator
//	wait.go              the wait: poll, yield, sleep
//	wordset_wait.go      the wait for many words
//	notequeue_wait.go    the wait for a note
//	open.go              a Node joins its job, and ends
package node
