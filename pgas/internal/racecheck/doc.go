// Package racecheck finds races between PEs (PGAS_CHECK=race): two accesses to the same symmetric memory of which one
// writes, not both are atomic, and neither comes before the other.
//
// An access is a step of its PE, or an operation under way: a strand of its own that begins at the call and that
// something completes later. The PE that issues an access says what it comes after, in a record. The detector of the PE
// whose memory it is compares the record with what it has kept of earlier ones.
//
// The files, bottom up; each uses only those before it:
//
//	site.go      places in the program
//	clock.go     Clock: what comes before a moment of a PE, or before an effect that others can see
//	codec.go     clocks as bytes
//	types.go     Record, Question, Carrier: what a PE tells other PEs' detectors, and asks them
package racecheck
