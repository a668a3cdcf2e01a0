package transport

// Stamp identifies a note by its initiator, a PE of the job, and the tag that the initiator gave the access.
type Stamp uint64

// StampOf packs source and tag.
func StampOf(source int, tag uint32) Stamp { return Stamp(tag)<<32 | Stamp(uint32(source)) }

// Source returns the initiator, a PE of the job.
func (s Stamp) Source() int { return int(uint32(s)) }

// Tag returns the tag that the initiator gave the access.
func (s Stamp) Tag() uint32 { return uint32(s >> 32) }

// Note is what a notified access leaves at its target.
type Note struct {
	Stamp
	Bytes uint64 // bytes that the access moved
	Off   uint64 // offset of the accessed bytes in the target's heap
}

// Overflow is implemented by transports that keep notes for which their PE's queue had no room. Without it, an
// access whose note finds no room is refused.
type Overflow interface {
	// Refill moves such notes into the queue, in the order of their arrival, as many as there is room for.
	Refill()
}
