package network

import "github.com/gopgas/gopgas/pgas/sim/internal/engine"

// kind is what an operation does.
type kind uint8

const (
	opPut kind = iota
	opGet
	opAtomic
)

// phase is how far an operation is: what its next event is.
type phase uint8

const (
	arriving   phase = iota // it arrives at the target
	applying                // it takes effect
	writing                 // the NIC writes the new value of the word
	signalling              // the signal of a put takes effect
	notifying               // the note is delivered
	replying                // its reply arrives at the initiator
	completing              // the initiator's NIC has received the reply
)

// The purposes of calls of the engine.
const (
	Death      = engine.OtherPurpose + iota // a PE dies
	Delay                                   // a PE begins to compute nothing
	HoldTime                                // an adversary has held operations for long
	DeathKnown                              // the other PEs are told of a death
)

// The reasons for which tasks go on.
const (
	Lost    = engine.OtherReason + iota // an operation on a dead PE has failed
	Quieted                             // the operations that a quiet waits for are complete
)
