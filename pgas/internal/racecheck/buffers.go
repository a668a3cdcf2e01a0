package racecheck

// Memory of this process that is no symmetric memory, and that operations under way read or fill. Loads and stores of
// the program are not seen, but other operations that use the same memory are.

// buffers are the buffers of operations under way.
type buffers struct{ list []buffer }

// buffer is one of them. It keeps its memory from being used again for something else.
type buffer struct {
	mem []byte
	at  blocks
	by  *Access
}

// use returns the races of an access to blocks of mem with the buffers, and remembers it if it is of an operation under
// way.
func (b *buffers) use(mem []byte, at blocks, a *Access, pe int, lost func(Unseen)) []Report {
	var races []Report
	for i := range b.list {
		x := &b.list[i]
		if n := overlap(address(mem), at, address(x.mem), x.at); n > 0 && race(a, x.by) {
			races = append(races, Report{PE: pe, Bytes: n, Own: true, Earlier: x.by, Later: a})
		}
	}
	if a.Number == 0 {
		return races
	}
	if len(b.list) >= mostBuffers {
		b.list = append(b.list[:0], b.list[mostBuffers/2:]...)
		lost(UnseenBuffers)
	}
	b.list = append(b.list, buffer{mem, at, a})
	return races
}

// prune drops the buffers of operations that come before a clock.
func (b *buffers) prune(c *Clock) {
	left := b.list[:0]
	for _, x := range b.list {
		if !c.has(&x.by.Strand) {
			left = append(left, x)
		}
	}
	clear(b.list[len(left):])
	b.list = left
}

// overlap returns how many bytes two blocks have in common, of blocks from a and from b on, that do; 0: none.
func overlap(a uintptr, as blocks, b uintptr, bs blocks) uint64 {
	if as.count > bs.count {
		a, as, b, bs = b, bs, a, as
	}
	for i := range as.count {
		lo := a + uintptr(i*as.stride)
		if n := within(lo, lo+uintptr(as.bytes), b, bs); n > 0 {
			return n
		}
	}
	return 0
}

// within returns how many bytes the first block of blocks from b on that overlaps lo to hi has in common with it.
func within(lo, hi, b uintptr, bs blocks) uint64 {
	first := uint64(0)
	if lo > b && bs.count > 1 {
		first = uint64(lo-b) / bs.stride
	}
	for i := first; i < min(first+2, bs.count); i++ {
		from := b + uintptr(i*bs.stride)
		if to := from + uintptr(bs.bytes); from < hi && lo < to {
			return uint64(min(hi, to) - max(lo, from))
		}
	}
	return 0
}

// blocks are blocks of memory at equal distances.
type blocks struct{ bytes, stride, count uint64 }

// end returns the end of blocks from an offset on.
func (b blocks) end(off uint64) uint64 {
	if b.count == 0 {
		return off
	}
	return off + (b.count-1)*b.stride + b.bytes
}

// whole reports whether there is nothing between the blocks.
func (b blocks) whole() bool { return b.count <= 1 || b.stride == b.bytes }

func whole(n int) blocks { return blocks{uint64(n), uint64(n), min(uint64(n), 1)} }
