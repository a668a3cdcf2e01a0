package floor

// Copying between two mappings of shared memory. The same copies are the bench "copy" of pgasbench, which measures them
// in the process that puts.

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasbench/payload"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// Copies are copies of one size, from one operand into a ring of them, as puts are measured.
type Copies struct {
	from, to []byte
	size     int
	slots    int
	piece    int // bytes of one call of copy
}

// piece is a length below that from which copy of Go goes past the cache, which is slower as long as both sides fit
// into it, and faster beyond.
const piece = 256 << 10

// pieceOf returns in which pieces size bytes are copied fastest.
func pieceOf(size int) int {
	if 2*size > largestCache() {
		return size
	}
	return piece
}

// NewCopies maps and touches what copies of size bytes need. The error says what memory cannot be had.
func NewCopies(size int) (*Copies, error) {
	slots := result.Slots(size)
	from, err := mapShared(size)
	if err != nil {
		return nil, err
	}
	to, err := mapShared(slots * size)
	if err != nil {
		unix.Munmap(from)
		return nil, err
	}
	return &Copies{from, to, size, slots, min(size, pieceOf(size))}, nil
}

// Close unmaps the memory.
func (c *Copies) Close() {
	unix.Munmap(c.from)
	unix.Munmap(c.to)
}

// Batch makes copies first … first+n-1, each with its number in it.
func (c *Copies) Batch(first, n int) error {
	source, mask := c.from, c.slots-1
	if c.size == 8 {
		c.words(first, n)
		return nil
	}
	for i := first; i < first+n; i++ {
		payload.Stamp(source, i)
		at := (i & mask) * c.size
		to := c.to[at : at+c.size]
		if c.size == c.piece {
			copy(to, source)
			continue
		}
		for done := 0; done < c.size; done += c.piece {
			copy(to[done:], source[done:min(done+c.piece, c.size)])
		}
	}
	return nil
}

// words copies a word each time that the CPU has in a register, as a put of one does: that is a store.
func (c *Copies) words(first, n int) {
	mask := c.slots - 1
	for i := first; i < first+n; i++ {
		at := (i & mask) * 8
		payload.Stamp(c.to[at:at+8], i)
	}
}

// Check returns what is not as done copies leave it.
func (c *Copies) Check(done int) error {
	for slot := range min(c.slots, done) {
		if err := payload.Check(c.to[slot*c.size:(slot+1)*c.size], payload.LastIn(slot, c.slots, done)); err != nil {
			return err
		}
	}
	return nil
}

// mapShared maps n bytes of memory that other processes could map too, and touches all of it.
func mapShared(n int) ([]byte, error) {
	fd, err := newMemory(n)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	m, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("memory for the floor: %w", err)
	}
	payload.Fill(m)
	return m, nil
}

// newMemory returns a descriptor of n bytes that processes can share.
func newMemory(n int) (fd int, err error) {
	if fd, err = unix.MemfdCreate("pgasbench", unix.MFD_CLOEXEC); err != nil {
		return -1, fmt.Errorf("memory for the floor: %w", err)
	}
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("memory for the floor: %w", err)
	}
	return fd, nil
}
