package dsm

// The memory of a region as this PE accesses it.

import (
	"errors"
	"fmt"
)

// regionMemory is this PE's copies, and the arrays that lie in them.
type regionMemory struct {
	bytes  []byte // the bytes of all blocks
	block  int    // bytes of a block
	shift  uint   // the logarithm of block
	soft   *soft  // nil but in mode Soft
	paged  *paged // nil but in mode Paged
	used   uint64 // bytes of the arrays so far
	arrays arrays
}

// setBlock sets the bytes of a block, a power of two.
func (m *regionMemory) setBlock(bytes int) {
	m.block = bytes
	for 1<<m.shift < bytes {
		m.shift++
	}
}

// blocksOf returns the blocks of bytes from to to-1 of the region.
func (m *regionMemory) blocksOf(from, to uint64) (lo, hi int32) {
	return int32(from >> m.shift), int32((to + uint64(m.block) - 1) >> m.shift)
}

// elementsOf names the elements of block b.
func (m *regionMemory) elementsOf(b int) string {
	from := uint64(b) * uint64(m.block)
	for i, a := range m.arrays.all() {
		if from >= a.lo && from < a.hi && a.size > 0 {
			to := min(from+uint64(m.block), a.hi)
			return fmt.Sprintf("array %d ([]%s)[%d:%d]", i, a.name, (from-a.lo)/a.size, (to-a.lo+a.size-1)/a.size)
		}
	}
	return "of no array"
}

// errHandler is why fences fail when page faults are not served any more.
var errHandler = errors.New("dsm: the handler of SIGBUS, which serves page faults, has been replaced since dsm.Open, " +
	"by none or by one without SA_ONSTACK: install the other one before dsm.Open, or with SA_ONSTACK and let it pass on " +
	"what is not its own; PGAS_DSM_FAULTS=thread needs no handler")

// faultsServed returns an error if page faults are not served any more: the next one would end the process.
func (m *regionMemory) faultsServed() error {
	if m.paged != nil && m.paged.HandlerLost() {
		return errHandler
	}
	return nil
}
