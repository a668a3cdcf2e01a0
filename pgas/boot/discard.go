package boot

import "golang.org/x/sys/unix"

// DiscardMin is the size from which giving pages back beats writing zeros over them.
const DiscardMin = 1 << 20

// Zero sets n bytes from off of the heap of local PE i to zero. Large ranges of a mapped segment cost
// nothing: their pages go back to the kernel, which supplies zeroed ones when they are touched again.
func (s *Segment) Zero(i int, off, n uint64) {
	b := s.Heap(i)[off : off+n]
	if s.discard == 0 || n < DiscardMin {
		clear(b)
		return
	}
	head := (PageBytes - off%PageBytes) % PageBytes // heaps start on a page
	whole := (n - head) / PageBytes * PageBytes
	if unix.Madvise(b[head:head+whole], s.discard) != nil {
		clear(b)
		return
	}
	clear(b[:head])
	clear(b[head+whole:])
}

// Discard gives the whole pages within n bytes from off of local PE i's heap back to the kernel. The program then reads
// zeros from them.
func (s *Segment) Discard(i int, off, n uint64) {
	lo, hi := (off+PageBytes-1)&^(PageBytes-1), (off+n)&^(PageBytes-1)
	if s.discard != 0 && lo < hi {
		_ = unix.Madvise(s.Heap(i)[lo:hi], s.discard) // only advice: if the kernel declines, the pages stay
	}
}
