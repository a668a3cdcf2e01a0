// Package engine runs the tasks of simulated PEs in virtual time, one at a time. A task is a coroutine: it runs until
// it must wait. Then it handles events in the order of their times until some task can go on, and passes control to
// that one.
//
// The engine knows neither memory nor messages. Events are what the packages above make of them, and an Order may take
// the place of time: then it decides what happens next.
//
//	clock.go            times and random numbers
//	queue.go            the queue of events
//	engine.go           tasks, and the loop that handles events
//	event_unsafe.go     events
//	wait.go             waits, sleeps and deadlines in virtual time
//	stall.go            what happens when no event is left
//	drive.go            calls of goroutines that act as tasks
//	prefetch_unsafe.go  prefetching for the next events
//
//ci:norace computes
package engine
