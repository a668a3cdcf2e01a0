package carriage

// The memory that other PEs write: a block of control words for each ring, then the rings, then the rows of words. All
// PEs have the same layout.

import "fmt"

const (
	// Slots is how many rings a PE has for each other PE: one that all channels share, and those of single channels.
	Slots = 4
	// sharedSlot is the slot of the ring that channels share.
	sharedSlot = 0

	controlBytes = 256      // a block has a pair of cache lines for each of its writers
	tailWord     = 0        // position behind the last frame; written by the sender
	lostWord     = 8        // in the shared slot: not 0 if the sender has lost records; written by the sender
	headWord     = 128      // position behind the last frame that was read; written by the target
	minRing      = 4 << 10  // bytes of the smallest ring
	maxRing      = 64 << 10 // bytes of the largest ring
	maxFrame     = 4 << 10  // bytes of the largest frame; a smaller ring has frames of half of its size

	buckets  = 256 // of words, each with a row of each PE
	rowBytes = 512
)

// Layout is where the rings of a PE lie.
type Layout struct {
	NPEs int
	Ring uint64 // bytes of a ring, a power of two
}

// LayoutFor returns the layout for a job in which each PE can spare most bytes of its heap. If the rings have no room
// there, it returns the smallest layout and an error.
func LayoutFor(npes int, most uint64) (Layout, error) {
	l := Layout{npes, maxRing}
	for l.Bytes() > most {
		if l.Ring /= 2; l.Ring < minRing {
			l.Ring = minRing
			return l, fmt.Errorf("PGAS_CHECK=race needs %d bytes of each PE's heap in a job of %d PEs, and uses %d at most", l.Bytes(), npes, most)
		}
	}
	return l, nil
}

// Bytes returns the size of the memory.
func (l Layout) Bytes() uint64 { return l.row(buckets, 0) }

// row returns the offset of the row of a bucket that a PE writes: see words.go.
func (l Layout) row(bucket, writer int) uint64 {
	return l.ring(l.NPEs, 0) + uint64(bucket*l.NPEs+writer)*rowBytes
}

// frame returns the size of the largest frame.
func (l Layout) frame() uint64 { return min(maxFrame, l.Ring/2) }

// control returns the offset of the control words of the ring that a PE writes, in a slot.
func (l Layout) control(sender, slot int) uint64 { return uint64(sender*Slots+slot) * controlBytes }

// ring returns the offset of that ring.
func (l Layout) ring(sender, slot int) uint64 {
	return uint64(l.NPEs)*Slots*controlBytes + uint64(sender*Slots+slot)*l.Ring
}
