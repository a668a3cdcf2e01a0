package containers

// The tickets of a queue, and the words that tell what has become of them.

// ticket counts the items of a queue. It wraps around after 2^54: at a hundred million items a second, in five years.
// Rings have lengths that are powers of two, so a ticket's place goes on at the same place when tickets wrap.
type ticket uint64

const (
	ticketBits            = 54
	ticketMask     ticket = 1<<ticketBits - 1
	ticketMaxCount        = 1<<8 - 1
)

// The states of a chunk.
const (
	ticketFreed = iota // no consumer needs the ticket's items any more
	ticketLive         // the items of the ticket are there
	ticketDead         // the ticket has no items
)

// plus returns the ticket that comes n later.
func (t ticket) plus(n int) ticket { return (t + ticket(n)) & ticketMask }

// after returns by how many t comes after o, if that is less than half of all tickets.
func (t ticket) after(o ticket) int { return int(int64(t-o) << (64 - ticketBits) >> (64 - ticketBits)) }

// in returns the place of t in a ring, whose length is a power of two.
func (t ticket) in(length int) int { return int(t) & (length - 1) }

// chunk returns the word of a chunk of n tickets from t on.
func chunk(t ticket, state, n int) uint64 { return uint64(t)<<10 | uint64(n)<<2 | uint64(state) }

// about returns what word says about ticket t, and of how many tickets from t on. It is false if word is about another
// one: that of t has not been written yet.
func about(word uint64, t ticket) (state, n int, ok bool) {
	return int(word & 3), int(word >> 2 & ticketMaxCount), ticket(word>>10) == t
}
