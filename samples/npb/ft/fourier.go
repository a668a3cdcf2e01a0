package main

// Fourier transforms of lines whose length is a power of two, by Stockham's algorithm: each pass combines values that
// are far apart and stores them in another buffer, such that the last pass leaves them in order. Passes are of four
// values, and one is of two if the length is no power of four. Several lines are transformed at once: their values of
// one index are neighbours, so inner loops are long.

import "math"

// together is how many lines are transformed at once: two buffers of them fit a cache.
const together = 8

// A fourier transforms lines of up to a given length. Goroutines need one each.
type fourier struct {
	roots []complex128 // element j is exp(-2πi j/len(roots))
	a, b  []complex128 // buffers: element i of line j is at i*together+j
}

func newFourier(longest int) *fourier {
	f := &fourier{make([]complex128, longest), make([]complex128, longest*together), make([]complex128, longest*together)}
	for j := range f.roots {
		sin, cos := math.Sincos(-2 * math.Pi * float64(j) / float64(longest))
		f.roots[j] = complex(cos, sin)
	}
	return f
}

// A bundle is a set of lines in a slice: line j begins at j*apart, and its elements are step apart.
type bundle struct{ lines, apart, length, step int }

// transform replaces each line of data by its transform: element k is the sum over j of exp(-2πi jk/length) times
// element j. The inverse transform is without a factor too. It has the other sign, which amounts to element -k.
func (f *fourier) transform(data []complex128, of bundle, inverse bool) {
	n := of.length
	for first := 0; first < of.lines; first += together {
		count := min(together, of.lines-first)
		for i := range n {
			for j := range count {
				f.a[i*together+j] = data[(first+j)*of.apart+i*of.step]
			}
		}
		out := f.passes(n)
		for i := range n {
			k := i
			if inverse {
				k = (n - i) % n
			}
			for j := range count {
				data[(first+j)*of.apart+k*of.step] = out[i*together+j]
			}
		}
	}
}

// passes transforms what is in buffer a, and returns the buffer that has the result. Before a pass, n values remain to
// be combined, and those of one index and all that is combined already are s neighbours.
func (f *fourier) passes(n int) []complex128 {
	from, to := f.a, f.b
	for s := together; n > 1; from, to = to, from {
		roots := len(f.roots) / n
		if n%4 != 0 {
			two(from, to, s)
			n, s = n/2, s*2
			continue
		}
		m := n / 4
		for p := range m {
			w := f.roots[p*roots]
			four(from[p*s:], to[4*p*s:], m*s, s, w, w*w)
		}
		n, s = m, s*4
	}
	return from
}

// two combines pairs of values, the last pass of a line whose length is no power of four.
func two(from, to []complex128, s int) {
	a, b := from[:s], from[s:2*s]
	sum, difference := to[:s], to[s:2*s]
	for q, x := range a {
		y := b[q]
		sum[q], difference[q] = x+y, x-y
	}
}

// four transforms s groups of four values that are apart in from, and multiplies them by powers of w; w2 is w*w.
func four(from, to []complex128, apart, s int, w, w2 complex128) {
	w3 := w * w2
	a, b, c, d := from[:s], from[apart:][:s], from[2*apart:][:s], from[3*apart:][:s]
	o0, o1, o2, o3 := to[:s], to[s:][:s], to[2*s:][:s], to[3*s:][:s]
	for q, aq := range a {
		even, odd := aq+c[q], b[q]+d[q]
		left, right := aq-c[q], b[q]-d[q]
		right = complex(-imag(right), real(right)) // times i
		o0[q] = even + odd
		o1[q] = w * (left - right)
		o2[q] = w2 * (even - odd)
		o3[q] = w3 * (left + right)
	}
}
