package baseline

// Bitmaps of PEs, one for each block on its home, and bitmaps of blocks, one on each PE.

import (
	"math/bits"

	"github.com/gopgas/gopgas/pgas"
)

// wordsOfPEs is the length of a bitmap of PEs.
func (h homes) wordsOfPEs() int { return (h.N + 63) / 64 }

// wordsOfBlocks is the length of a bitmap of blocks.
func (h homes) wordsOfBlocks() int { return (int(h.Blocks) + 63) / 64 }

// mine returns the word of a bitmap of PEs that has this PE's bit, and the bit.
func (h homes) mine(b int32) (i int, bit uint64) {
	return int(b)*h.wordsOfPEs() + h.Me/64, 1 << (h.Me % 64)
}

// tell sets the bit of block b on each PE of a bitmap but this one.
func (h homes) tell(blocks pgas.AtomicSlice[uint64], b int32, pes []uint64) {
	for i, word := range pes {
		for ; word != 0; word &= word - 1 {
			if pe := 64*i + bits.TrailingZeros64(word); pe != h.Me {
				blocks.At(int(b)/64).Or(pe, 1<<(b%64))
			}
		}
	}
}
