package pgas

// Shares: n items of a problem in contiguous blocks, one for each member of a team. Share and OwnerOf are inverse to
// each other: Share says which items a member has, OwnerOf which member has an item. They move nothing, and every
// member computes the same.
//
// The share of member pe begins at pe*n/npes, rounded down. So two shares differ by one item at most, the longer ones
// are spread over the team, and a team of more members than items has empty shares among others. The products have 128
// bits, so no n is too large.

import "math/bits"

// Share returns the block of items that this PE has when n items are divided among the members of t: items lo to hi, hi
// excluded. The blocks of all members are contiguous, in the order of the team, as long as each other to within one
// item, and together 0 to n. A block is empty, with lo == hi, where there are fewer items than members. It moves
// nothing. It panics with *UsageError if n is negative.
func (t *Team) Share(n int) (lo, hi int) {
	t.mustDivide("Share", n)
	return shareOf(t.g.Me, n, len(t.g.PEs))
}

// ShareOf is Share for member pe of t. It panics with *UsageError if pe is out of range or n is negative.
func (t *Team) ShareOf(pe, n int) (lo, hi int) {
	t.member("ShareOf", pe)
	t.mustDivide("ShareOf", n)
	return shareOf(pe, n, len(t.g.PEs))
}

// OwnerOf returns the member of t that has item i when n items are divided by Share. It moves nothing. It panics with
// *UsageError unless 0 <= i < n.
func (t *Team) OwnerOf(i, n int) int {
	t.mustDivide("OwnerOf", n)
	if i < 0 || i >= n {
		misuse("OwnerOf", "item %d is out of range for %d items", i, n)
	}
	return ownerOf(i, n, len(t.g.PEs))
}

// mustDivide panics with *UsageError if t may not be used or n is negative.
func (t *Team) mustDivide(op string, n int) {
	t.alive(op)
	if n < 0 {
		misuse(op, "%d items: the number must not be negative", n)
	}
}

// shareOf returns the share of one of npes members.
func shareOf(pe, n, npes int) (lo, hi int) {
	return startOf(pe, n, npes), startOf(pe+1, n, npes)
}

// startOf returns pe*n/npes.
func startOf(pe, n, npes int) int {
	high, low := bits.Mul64(uint64(pe), uint64(n))
	q, _ := bits.Div64(high, low, uint64(npes))
	return int(q)
}

// ownerOf returns the last member whose share begins at item i or before it: the greatest pe with pe*n < (i+1)*npes.
func ownerOf(i, n, npes int) int {
	high, low := bits.Mul64(uint64(i)+1, uint64(npes))
	low, borrow := bits.Sub64(low, 1, 0)
	q, _ := bits.Div64(high-borrow, low, uint64(n))
	return int(q)
}
