package main

// Keys: how an identifier becomes one word that a compare-swap can publish.
//
// Up to seven bytes are in the key itself. A longer identifier's spelling is first written to a page at the
// entry's home, to which no key points yet, and the key that points to it is published afterwards: a PE that
// finds a key finds the whole spelling, so no PE waits for an incomplete entry. Two identifiers are
// the same iff their spellings are; hashes only say where to look and what need not be compared.
//
//	short   0 | length (7 bits) | up to 7 bytes, first one highest
//	long    1 | length (23 bits) | hash (8 bits) | byte offset in the home's pages (32 bits)
//
// The length comes before everything else, so no key is 0.

const (
	shortMax = 7
	longMax  = 1<<23 - 1 // bytes in the longest identifier that can be counted
	textMax  = 1 << 32   // bytes of spellings at one home
	longBit  = uint64(1) << 63
	tagMask  = ^uint64(1<<32 - 1) // all of a long key but the offset
)

// shortKey returns the key of an identifier of 1 to shortMax bytes.
func shortKey(name string) uint64 {
	k := uint64(len(name)) << 56
	for i := range len(name) {
		k |= uint64(name[i]) << (8 * (6 - i))
	}
	return k
}

// shortName returns the identifier of a short key.
func shortName(key uint64) string {
	var b [shortMax]byte
	for i := range b {
		b[i] = byte(key >> (8 * (6 - i)))
	}
	return string(b[:key>>56])
}

// longKey returns the key of a longer identifier. Its spelling is at byte offset at.
func longKey(name string, hash, at uint64) uint64 {
	return longBit | uint64(len(name))<<40 | (hash>>56)<<32 | at
}

func isLong(key uint64) bool { return key&longBit != 0 }

// spelling returns where the identifier of a long key is in its home's pages.
func spelling(key uint64) (at uint64, n int) { return key & (textMax - 1), int(key >> 40 & longMax) }

// hashName returns FNV-1a with a last mix, so that its high and low bits are equally good. All
// PEs must compute the same one, which rules out package maphash.
func hashName(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
