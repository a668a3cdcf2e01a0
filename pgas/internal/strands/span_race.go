//go:build race && (amd64 || arm64)

package strands

// A span is a range of addresses, or of a heap as heapSpan has it.
type span struct{ lo, hi uint64 }

// peShift is where a heapSpan has the PE: heaps are smaller.
const peShift = 46

// heapSpan returns the span of n bytes at offset off of the heap of a PE.
//
//go:norace
func heapSpan(pe int, off uint64, n int) span {
	lo := uint64(pe)<<peShift | off
	return span{lo, lo + uint64(n)}
}

//go:norace
func (s span) overlaps(t span) bool { return s.lo < t.hi && t.lo < s.hi }

// spans are bytes that a strand has accessed.
type spans struct {
	each [16]span
	n    int
	rest span // covers those for which each has no room
}

//go:norace
func (s *spans) add(t span) {
	if t.lo == t.hi {
		return
	}
	if s.n > 0 && s.each[s.n-1] == t {
		return
	}
	if s.n < len(s.each) {
		s.each[s.n] = t
		s.n++
		return
	}
	if s.rest == (span{}) {
		s.rest = t
	}
	s.rest = span{min(s.rest.lo, t.lo), max(s.rest.hi, t.hi)}
}

//go:norace
func (s *spans) addAll(t *spans) {
	for i := range t.n {
		s.add(t.each[i])
	}
	s.add(t.rest)
}

//go:norace
func (s *spans) overlap(t span) bool {
	for i := range s.n {
		if s.each[i].overlaps(t) {
			return true
		}
	}
	return s.rest.overlaps(t)
}

//go:norace
func (s *spans) none() bool { return s.n == 0 }

//go:norace
func (s *spans) clear() { s.n, s.rest = 0, span{} }
