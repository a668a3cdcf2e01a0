package main

// The counts that a PE keeps to itself for a while: a hash table that is emptied when it is full, so that it stays in the
// cache.

// counts holds mostLocal different k-mers.
type counts struct {
	slots []localCount
	used  []int32 // the slots that are not free
}

// localCount is a slot of counts: free if n is 0.
type localCount struct {
	kmer uint64
	n    int64
}

const localSlots = 4 * mostLocal

func newCounts() *counts {
	return &counts{make([]localCount, localSlots), make([]int32, 0, mostLocal)}
}

// add counts a k-mer, and reports whether the table is full.
func (c *counts) add(kmer uint64) (full bool) {
	at := mix(kmer) % localSlots
	for c.slots[at].n != 0 && c.slots[at].kmer != kmer {
		at = (at + 1) % localSlots
	}
	if c.slots[at].n == 0 {
		c.slots[at].kmer = kmer
		c.used = append(c.used, int32(at))
	}
	c.slots[at].n++
	return len(c.used) == mostLocal
}

// give empties the table, and yields what was in it until yield wants no more.
func (c *counts) give(yield func(uint64, int64) bool) bool {
	more := true
	for _, at := range c.used {
		more = more && yield(c.slots[at].kmer, c.slots[at].n)
		c.slots[at].n = 0
	}
	c.used = c.used[:0]
	return more
}

// mix spreads a k-mer over 64 bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
