package coll

// Digests of records: an all-reduce with OR over the digests and their complements tells whether all records are equal.

import (
	"encoding/binary"
	"hash/fnv"
)

// digestOr is which bits are 1, and which are 0, in the digest of any member so far.
type digestOr struct {
	ones, zeros uint64
	record      int  // size of a record in bytes
	words       bool // records are words, which are combined in place of digests
	buf         [16]byte
}

func (b *digestOr) add(ones, zeros uint64) {
	b.ones |= ones
	b.zeros |= zeros
}

func (b *digestOr) addRecord(r []byte) {
	if b.words {
		b.ones |= binary.LittleEndian.Uint64(r)
		return
	}
	h := fnv.New64a()
	h.Write(r)
	b.add(h.Sum64(), ^h.Sum64())
}

func (b *digestOr) equal() bool { return b.ones&b.zeros == 0 }

// message returns what a leader sends to other leaders: nothing in a barrier that does not compare.
func (b *digestOr) message() []byte {
	if b == nil {
		return nil
	}
	binary.LittleEndian.PutUint64(b.buf[:], b.ones)
	binary.LittleEndian.PutUint64(b.buf[8:], b.zeros)
	return b.buf[:]
}
