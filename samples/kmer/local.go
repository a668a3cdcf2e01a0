package main

// The counts that a PE keeps to itself for a while: a hash table that is emptied when it is full, so that it stays in
// the cache.

// counts holds mostLocal different k-mers.
type counts struct {
	slots []localCount
	used  int
}

// localCount is a slot of counts: free if n is 0.
type localCount struct {
	kmer uint64
	n    int64
}

const localSlots = 2 * mostLocal

func newCounts() *counts { return &counts{slots: make([]localCount, localSlots)} }

// add counts a k-mer, and reports whether the table is full.
func (c *counts) add(kmer uint64) (full bool) {
	at := mix(kmer) % localSlots
	for c.slots[at].n != 0 && c.slots[at].kmer != kmer {
		at = (at + 1) % localSlots
	}
	if c.slots[at].n == 0 {
		c.slots[at].kmer = kmer
		c.used++
	}
	c.slots[at].n++
	return c.used == mostLocal
}

// give yields what is in the table until yield wants no more, and empties it.
func (c *counts) give(yield func(uint64, int64) bool) bool {
	for i := range c.slots {
		if s := &c.slots[i]; s.n != 0 && !yield(s.kmer, s.n) {
			return false
		}
	}
	clear(c.slots)
	c.used = 0
	return true
}

// mix spreads a k-mer over 64 bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
