// Package programs has small programs for a few PEs, each of which makes one mistake or, as its right twin, none. Its
// test runs them under the detectors of races, and counts what each detector finds, misses and reports without reason.
// The programs are for judging the detectors: they are written from the rules of the specification, without a look at
// what a detector can do. docs/use/races.md says what each detector promises.
//
// | file | has |
// |---|---|
// | corpus.go | Program: the list, and what the programs have in common |
// | local.go | the initiator's buffers |
// | strided.go | strided forms |
// | remote.go | two PEs, the same memory, and nothing that orders them |
// | order.go | data and flags without the right fence |
// | meet.go | barriers, syncs and collectives that do not complete operations |
// | signal.go | waits that do not say what the program takes them to say |
// | notified.go | notified puts and gets |
// | notes.go | notifications without data |
// | atomic.go | locks, tickets and counters made of atomic words |
// | lock.go | locks |
// | collective.go | the memory of collectives |
// | contexts.go | Contexts |
// | threads.go | goroutines of one PE |
// | team.go | teams |
// | ptr.go | neighbours' memory |
package programs
