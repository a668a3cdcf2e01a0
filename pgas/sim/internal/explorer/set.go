package explorer

import "math/bits"

// A set is a set of small numbers.
type set []uint64

func (s set) has(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 != 0 }

func (s *set) add(i int) {
	for len(*s) <= i>>6 {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

// join adds the numbers of t.
func (s *set) join(t set) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, w := range t {
		(*s)[i] |= w
	}
}

// common calls f with each number that is in both sets.
func (s set) common(t set, f func(i int)) {
	for k := range min(len(s), len(t)) {
		for w := s[k] & t[k]; w != 0; w &= w - 1 {
			f(k<<6 + bits.TrailingZeros64(w))
		}
	}
}
