package network

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
