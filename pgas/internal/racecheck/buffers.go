package racecheck

// Memory of this process that is no symmetric memory, and that operations under way read or fill. Loads and stores of
// the program are not seen, but other operations that use the same memory are.

// buffers are the buffers of operations under way, and some of operations that are complete: these race with nothing,
// and are dropped together.
type buffers struct {
	list     []*buffer             // in the order of their operations
	pages    map[uintptr][]*buffer // by the pages that they are in, those of few pages
	wide     []*buffer             // the others
	complete int                   // at least so many are of complete operations, or none is
	added    uint64                // bytes of those added since complete ones were dropped
}

const (
	// fewBuffers is how many are looked through at each completion.
	fewBuffers = 16
	// mostAdded is how many bytes of buffers are added at most before complete ones are dropped.
	mostAdded = 4 << 20
)

// buffer is one of them. It keeps its memory from being used again for something else.
type buffer struct {
	mem         []byte
	at          blocks
	by          *Access
	first, last uintptr // pages of mem
}

// fewPages is in how many pages a buffer is found by its pages.
const fewPages = 16

// newBuffer returns blocks of mem as a buffer.
func newBuffer(mem []byte, at blocks, by *Access) buffer {
	lo := address(mem)
	return buffer{mem, at, by, lo >> pageBits, uintptr(at.end(uint64(lo))-1) >> pageBits}
}

func (x *buffer) isWide() bool { return x.last-x.first >= fewPages }

// use returns the races of an access to blocks of mem with the buffers, and remembers it if it is of an operation under
// way. Operations before known are complete.
func (b *buffers) use(mem []byte, at blocks, a *Access, pe int, known *Clock, lost func(Unseen)) []Report {
	if len(b.list) == 0 && a.Number == 0 {
		return nil
	}
	y := newBuffer(mem, at, a)
	var races []Report
	b.near(&y, func(x *buffer) {
		if n := overlap(address(mem), at, address(x.mem), x.at); n > 0 && race(a, x.by) {
			races = append(races, Report{PE: pe, Bytes: n, Own: true, Earlier: x.by, Later: a})
		}
	})
	if a.Number == 0 {
		return races
	}
	if len(b.list)-b.complete >= mostBuffers {
		b.prune(known)
	}
	if len(b.list)-b.complete >= mostBuffers {
		b.keep(b.list[len(b.list)-mostBuffers/2:])
		lost(UnseenBuffers)
	}
	b.added += uint64(len(mem))
	b.add(&y)
	return races
}

// near calls f for each buffer that shares a page with y, once.
func (b *buffers) near(y *buffer, f func(x *buffer)) {
	if y.isWide() {
		for _, x := range b.list {
			f(x)
		}
		return
	}
	for _, x := range b.wide {
		f(x)
	}
	for page := y.first; page <= y.last; page++ {
		for _, x := range b.pages[page] {
			if page == max(x.first, y.first) { // the first page that they share
				f(x)
			}
		}
	}
}

// add remembers a buffer.
func (b *buffers) add(x *buffer) {
	b.list = append(b.list, x)
	if x.isWide() {
		b.wide = append(b.wide, x)
		return
	}
	if b.pages == nil {
		b.pages = map[uintptr][]*buffer{}
	}
	for page := x.first; page <= x.last; page++ {
		b.pages[page] = append(b.pages[page], x)
	}
}

// keep forgets all but some.
func (b *buffers) keep(some []*buffer) {
	clear(b.pages)
	clear(b.wide)
	old := b.list
	b.list, b.wide = b.list[:0], b.wide[:0]
	for _, x := range some { // its place in old is never before that in the list
		b.add(x)
	}
	clear(old[len(b.list):])
}

// completed notes that n operations are complete: all those before a clock are. It looks at all buffers only when a
// quarter as many operations have completed, so that each of these costs the same.
func (b *buffers) completed(c *Clock, n int) {
	b.complete += n
	if len(b.list) <= fewBuffers || 4*b.complete >= len(b.list) || b.added >= mostAdded {
		b.prune(c)
	}
}

// prune drops the buffers of operations that come before a clock.
func (b *buffers) prune(c *Clock) {
	b.complete, b.added = 0, 0
	left := make([]*buffer, 0, 4)
	for _, x := range b.list {
		if !c.has(&x.by.Strand) {
			left = append(left, x)
		}
	}
	if len(left) < len(b.list) {
		b.keep(left)
	}
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
