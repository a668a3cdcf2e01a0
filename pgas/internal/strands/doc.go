// Package strands shows the operations between PEs to Go's race detector as what they are: work that goes on after the
// call that begins it, until something completes it. It is for PEs that are goroutines, in programs that are built with
// the race detector. In others Over returns the channel that it is given.
//
// A strand carries out operations for the goroutines of a PE. To the detector it is a goroutine of its own. An
// operation on a strand comes after what its initiator did before the call, and the initiator goes on beside it. Only
// what completes the operation orders the two again: a quiet, or for the source of a put a quiet of the sources. So a
// load of what a get is filling races, and so does a load of data that its flag has overtaken for want of a fence.
//
// In fact the initiator does the operation itself, within the call. Meanwhile it is the strand to the detector, which
// keeps what it knows of each goroutine in a thread and looks up the thread of the calling one. The detector judges by
// order and not by time. So nothing is in memory later than without strands, and no program hangs that did not. What is
// reported does not depend on the speed of PEs.
//
//	doc.go                      what strands are, and the rules of order
//	over_norace.go              Over, where there is no race detector
//	channel_race.go             the channel of a context: puts, gets, atomics, and what completes them
//	deferred_race.go            puts that read their sources later, and strided transfers
//	notified_race.go            notified accesses
//	target_race.go              the strands of a target, and the order between them
//	strand_race.go              one strand, and the stack that it shows to the detector
//	thread_race_unsafe.go       what a strand is to the detector
//	thread_race.s               the record of the calling goroutine, and its frames
//	task_race.go                what a strand can do
//	span_race.go                which bytes a strand has accessed
//	detector_race_unsafe.go     the functions of the race detector
//
// # Order
//
// A context has strands for each of its targets: one for puts, one for atomics, one for notified accesses, and some for
// puts with a signal and for gets that do not wait. What one strand does is in order. The rules of transport.Channel
// have that order too, or no PE can learn of the earlier operation by the later one. Between strands the rules are
// those of transport.Channel alone: a fence orders operations to one target, and operations on the same bytes of a
// target are in order.
//
// The detector keeps some 250 goroutines apart, so there are few strands. An operation that finds no unused strand of
// its kind shares one. In a process of many goroutines a new strand has no thread, and its tasks are steps of the
// initiator. The detector may then miss a conflict. It never reports one that does not exist.
//
// Atomics that return nothing order those that see their effect after the initiator, and order the initiator after
// nothing. Atomics and gets that return a value are steps of the initiator.
package strands
