// Package racecheck finds races between PEs (PGAS_CHECK=race): two accesses to the same symmetric memory of which one
// writes, not both are atomic, and neither comes before the other.
//
// An access is a step of its PE, or an operation under way: a strand of its own that begins at the call and that
// something completes later. The PE that issues an access says what it comes after, in a record. The detector of the PE
// whose memory it is compares the record with what it has kept of earlier ones.
//
// The files, bottom up; each uses only those before it:
//
//	unseen.go            the bounds, and Unseen: what the program reads of what has no room
//	site.go              places in the program
//	clock.go             Clock: what comes before a moment of a PE, or before an effect that others can see
//	codec.go             clocks as bytes
//	types.go             Record, Question, Carrier: what a PE tells other PEs' detectors, and asks them
//	order.go             which of two accesses comes before the other
//	report.go            what the program reads of a race
//	shadow.go            Shadow: the accesses that bytes have had
//	weight.go            how many bytes a Detector keeps
//	detector.go          Detector: what is known of one PE's memory, and of what others acquire from it
//	inprocess.go         the carrier of PEs that share a process
//	address_unsafe.go, buffers.go
//	                     buffers of operations under way that are no symmetric memory
//	underway.go          what a context has under way to a PE
//	pe.go                what a PE knows of itself
//	request.go           collectives of a PE, and those under way
//	outside.go           what a PE tells another one by something else than symmetric memory
//	channel.go, notified.go, sources.go
//	                     channels that tell the detectors of their operations
//	job.go               Job: the PEs that share a process
package racecheck
