// Package carriage takes the records of PGAS_CHECK=race to the detectors of PEs that are other processes, and asks
// these detectors.
//
// Each PE has memory, at the same offset of every heap, with a ring for each stream of messages that another PE may
// send it. The sender writes a frame and then the ring's tail, by a put with a signal: a PE that sees the tail sees
// the frame. A PE of the same host sends all its messages through one ring of each target, since its stores are
// visible at once and in order. A PE of another host sends on the channel of the operation that a record tells of,
// before the operation, with a fence between them if other PEs may see an effect of the operation: so a PE that has
// seen the effect finds the record. Each such channel has rings of its own, as long as there are some. The channels
// that have none share one ring, whose messages have arrived before the operation begins.
//
// Records of accesses are gathered until a frame is full, the operation releases something, or a quiet begins. A
// sender that finds the ring full reads how far the target has got, and empties its own rings as long as it waits: so
// PEs that wait for each other go on. A PE empties its rings before it asks a detector, its own or another one, when
// it is asked, and now and then.
//
// A PE that loses records, because it cannot go on without them, says so once, and tells each PE before the next
// operation that may order something: all PEs that may miss an order for this reason report nothing from then on.
//
// The files, bottom up; each uses only those before it:
//
//	layout.go    the memory: control words and rings
//	address_unsafe.go  addresses of sites
//	wire.go      records, questions and answers as bytes
//	words.go     the clocks of words, where others read them
//	inbox.go     the ring of a stream, as its target reads it
//	outbox.go    a stream, as its sender writes it
//	carriage.go  Carriage: the streams of a PE, Tell and Flush
//	ask.go       Ask, and the answers to other PEs
//	over.go      a Carriage between the PEs of a job
package carriage
