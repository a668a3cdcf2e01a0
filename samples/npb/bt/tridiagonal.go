package main

// The systems of the implicit step. In each direction, the changes of the points of a line satisfy
//
//	( 1 + dt·∂A/∂x - dt·∂²N/∂x² ) · change = right side
//
// where A and N are the derivatives of the fluxes. It is tridiagonal in blocks of 5x5, and solved by elimination from
// the first point to the last and back. Points of the boundary do not change.

// system has room for what one line needs.
type system struct {
	dt     float64
	convey []matrix // dt·A/(2h), by point; h is the distance of points
	spread []matrix // dt·N/h²
	next   []matrix // what the point after has to do with this one, after elimination
}

func newSystem(c class) *system {
	return &system{c.dt, make([]matrix, c.n), make([]matrix, c.n), make([]matrix, c.n)}
}

// solve replaces the right sides r of a line by the changes. u has the line's states.
func (s *system) solve(r []state, to line, u []state, from line, d int) {
	n := len(s.convey)
	s.derive(u, from, d)
	for i := 1; i < n-1; i++ {
		var diagonal, before matrix
		upper, right := &s.next[i], &r[to.at(i)]
		for j := range diagonal {
			for k := range diagonal[j] {
				diagonal[j][k] = 2 * s.spread[i][j][k]
				before[j][k] = -s.convey[i-1][j][k] - s.spread[i-1][j][k]
				upper[j][k] = s.convey[i+1][j][k] - s.spread[i+1][j][k]
			}
			diagonal[j][j]++
		}
		if i > 1 {
			diagonal.subtractProduct(&before, &s.next[i-1])
			right.subtractProduct(&before, &r[to.at(i-1)])
		}
		diagonal.solve(upper, right)
	}
	for i := n - 3; i > 0; i-- {
		r[to.at(i)].subtractProduct(&s.next[i], &r[to.at(i+1)])
	}
}

// derive computes the derivatives at all points of a line.
func (s *system) derive(u []state, from line, d int) {
	perLength := float64(len(s.convey) - 1)
	for i := range s.convey {
		v := &u[from.at(i)]
		m := motionOf(v)
		m.convectionJacobian(&s.convey[i], v, d, s.dt*perLength/2)
		m.diffusionJacobian(&s.spread[i], v, d, s.dt*perLength*perLength)
	}
}
