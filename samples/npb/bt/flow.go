package main

// The equations. The state changes in time by
//
//	∂u/∂t = Σ over the directions of ( -∂F(u)/∂x + ∂²(G(u) + D·u)/∂x² - ε·(fourth difference of u) ) + forcing
//
// F is the flux that the motion of the fluid and its pressure make, G the flux of viscosity and conduction of heat, and
// D and ε damp waves that the grid does not resolve. Derivatives are central differences. Everything happens along
// lines: flows works on one line in one direction, which is 0, 1 or 2.

// Constants of the fluid and of the method.
const (
	gamma        = 1.4       // ratio of the heat capacities
	viscosity    = 0.1       // of momentum
	conductivity = 1.4 * 1.4 // of energy, as a multiple of viscosity
	normal       = 4.0 / 3   // of viscosity, in the direction of the flow
	friction     = 1.0 / 6   // of the energy that viscosity takes from motion in the direction of the flow
	fourth       = 0.25      // ε
)

// damping returns D, which is the same for all components.
func damping(direction int) float64 { return [3]float64{0.75, 0.75, 1}[direction] }

// motion is what the fluxes at a point have in common.
type motion struct {
	perMass  float64 // 1/density
	velocity [3]float64
	kinetic  float64 // energy of motion for a unit of mass
	pressure float64
}

func motionOf(u *state) (m motion) {
	m.perMass = 1 / u[0]
	for d := range m.velocity {
		v := u[1+d] * m.perMass
		m.velocity[d] = v
		m.kinetic += v * v / 2
	}
	m.pressure = (gamma - 1) * (u[4] - u[0]*m.kinetic)
	return m
}

// convection returns F.
func (m *motion) convection(u *state, d int) state {
	v := m.velocity[d]
	f := state{u[1+d], u[1] * v, u[2] * v, u[3] * v, (u[4] + m.pressure) * v}
	f[1+d] += m.pressure
	return f
}

// diffusion returns G + D·u.
func (m *motion) diffusion(u *state, d int) state {
	v := m.velocity
	g := state{0, viscosity * v[0], viscosity * v[1], viscosity * v[2],
		viscosity * ((1-conductivity)*m.kinetic + friction*v[d]*v[d] + conductivity*u[4]*m.perMass)}
	g[1+d] *= normal
	for i, c := range u {
		g[i] += damping(d) * c
	}
	return g
}

// flows has room for what one line needs.
type flows struct {
	values     []state // of the line
	convection []state
	diffusion  []state
}

func newFlows(n int) *flows { return &flows{make([]state, n), make([]state, n), make([]state, n)} }

// A line is the place of a line in a slice: point i is at first+i*step.
type line struct{ first, step int }

func (l line) at(i int) int { return l.first + i*l.step }

// add adds, for the points from lo to hi-1 of a line, what the flow in direction d changes in a unit of time. u needs
// to have those points and up to two more on either side. The line's first and last points are not among them: their
// values stay.
func (f *flows) add(out []state, to line, u []state, from line, d, lo, hi int) {
	n := len(f.values)
	for i := max(lo-2, 0); i < min(hi+2, n); i++ {
		f.values[i] = u[from.at(i)]
		m := motionOf(&f.values[i])
		f.convection[i] = m.convection(&f.values[i], d)
		f.diffusion[i] = m.diffusion(&f.values[i], d)
	}
	perLength := float64(n - 1)
	for i := lo; i < hi; i++ {
		o := &out[to.at(i)]
		before, after := &f.convection[i-1], &f.convection[i+1]
		left, middle, right := &f.diffusion[i-1], &f.diffusion[i], &f.diffusion[i+1]
		for m := range o {
			o[m] += perLength * (perLength*(left[m]-2*middle[m]+right[m]) - (after[m]-before[m])/2)
		}
		f.damp(o, i)
	}
}

// damp subtracts the fourth difference at point i. Values of the boundary are left out of it.
func (f *flows) damp(o *state, i int) {
	v := f.values
	last := len(v) - 2 // the last point that is not of the boundary
	if i > 2 && i < last-1 {
		for m := range o {
			o[m] -= fourth * (v[i-2][m] - 4*v[i-1][m] + 6*v[i][m] - 4*v[i+1][m] + v[i+2][m])
		}
		return
	}
	weights := [5]float64{1, -4, 6, -4, 1}
	if i == 1 || i == last {
		weights[2] = 5
	}
	for at := max(i-2, 1); at <= min(i+2, last); at++ {
		for m := range o {
			o[m] -= fourth * weights[at-i+2] * v[at][m]
		}
	}
}
