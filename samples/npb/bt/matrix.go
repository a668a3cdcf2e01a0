package main

// Matrices of 5x5.

// subtractProduct subtracts the product of l and r from a.
func (a *matrix) subtractProduct(l, r *matrix) {
	for i := range a {
		row, f := &a[i], &l[i]
		f0, f1, f2, f3, f4 := f[0], f[1], f[2], f[3], f[4]
		for j := range row {
			row[j] -= f0*r[0][j] + f1*r[1][j] + f2*r[2][j] + f3*r[3][j] + f4*r[4][j]
		}
	}
}

// subtractProduct subtracts the product of l and r from s.
func (s *state) subtractProduct(l *matrix, r *state) {
	for i := range s {
		f := &l[i]
		s[i] -= f[0]*r[0] + f[1]*r[1] + f[2]*r[2] + f[3]*r[3] + f[4]*r[4]
	}
}

// solve replaces c and r by the inverse of a times each, by elimination. It destroys a. It does not look for pivots:
// the matrices of small steps of time are dominated by their diagonals.
func (a *matrix) solve(c *matrix, r *state) {
	for p := range a {
		pivot := 1 / a[p][p]
		for j := p + 1; j < 5; j++ {
			a[p][j] *= pivot
		}
		for j := range c[p] {
			c[p][j] *= pivot
		}
		r[p] *= pivot
		for i := range a {
			if i == p {
				continue
			}
			f := a[i][p]
			for j := p + 1; j < 5; j++ {
				a[i][j] -= f * a[p][j]
			}
			to, from := &c[i], &c[p]
			for j := range to {
				to[j] -= f * from[j]
			}
			r[i] -= f * r[p]
		}
	}
}
