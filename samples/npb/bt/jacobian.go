package main

// The derivatives of the fluxes by the state. An implicit step needs them: it looks for a change that fits the fluxes
// at its end, and takes these for linear in the change.

// A matrix is 5x5: element i, j belongs to component i of a flux and component j of the state.
type matrix [5][5]float64

// convectionJacobian sets a to factor times the derivative of F in direction d.
func (m *motion) convectionJacobian(a *matrix, u *state, d int, factor float64) {
	const c2 = gamma - 1
	v := m.velocity
	normalVelocity := v[d]
	enthalpy := (u[4] + m.pressure) * m.perMass
	*a = matrix{}
	a[0][1+d] = 1
	for i := range 3 {
		a[1+i][0] = -v[i] * normalVelocity
		a[1+i][1+i] = normalVelocity
	}
	for i := range 3 {
		a[1+i][1+d] += v[i]
		a[1+d][1+i] -= c2 * v[i]
		a[4][1+i] = -c2 * v[i] * normalVelocity
	}
	a[1+d][0] += c2 * m.kinetic
	a[1+d][4] = c2
	a[4][0] = (c2*m.kinetic - enthalpy) * normalVelocity
	a[4][1+d] += enthalpy
	a[4][4] = gamma * normalVelocity
	a.scale(factor)
}

// diffusionJacobian sets a to factor times the derivative of G + D·u in direction d.
func (m *motion) diffusionJacobian(a *matrix, u *state, d int, factor float64) {
	v := m.velocity
	*a = matrix{}
	a[4][0] = viscosity * m.perMass * (-2*(1-conductivity)*m.kinetic - 2*friction*v[d]*v[d] - conductivity*u[4]*m.perMass)
	for i, c := range v {
		nu := viscosity * m.perMass
		a[4][1+i] = nu * (1 - conductivity) * c
		if i == d {
			a[4][1+i] += nu * 2 * friction * c
			nu *= normal
		}
		a[1+i][0] = -nu * c
		a[1+i][1+i] = nu
	}
	a[4][4] = viscosity * conductivity * m.perMass
	for i := range a {
		a[i][i] += damping(d)
	}
	a.scale(factor)
}

func (a *matrix) scale(factor float64) {
	for i := range a {
		for j := range a[i] {
			a[i][j] *= factor
		}
	}
}
