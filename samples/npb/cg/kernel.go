package main

// What a goroutine does to its rows: the product of the matrix with a vector, and the sums and updates of parts of
// vectors.

// multiply sets q to the rows of a times p.
func (a matrix) multiply(q, p []float64) {
	for i := range q {
		from, to := a.start[i]-a.start[0], a.start[i+1]-a.start[0]
		columns := a.columns[from:to]
		values := a.values[from:to][:len(columns)]
		var sum float64
		for k, j := range columns {
			sum += values[k] * p[j]
		}
		q[i] = sum
	}
}

// dot returns the inner product of x and y.
func dot(x, y []float64) (sum float64) {
	y = y[:len(x)]
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// advance adds alpha times p to z, subtracts alpha times q from r, and returns the square of r.
func advance(z, r []float64, alpha float64, p, q []float64) (square float64) {
	p, q, r = p[:len(z)], q[:len(z)], r[:len(z)]
	for i := range z {
		z[i] += alpha * p[i]
		r[i] -= alpha * q[i]
		square += r[i] * r[i]
	}
	return square
}

// direct sets p to r plus beta times p.
func direct(p, r []float64, beta float64) {
	p = p[:len(r)]
	for i, v := range r {
		p[i] = v + beta*p[i]
	}
}

// distance returns the square of x minus y.
func distance(x, y []float64) (square float64) {
	y = y[:len(x)]
	for i, v := range x {
		square += (v - y[i]) * (v - y[i])
	}
	return square
}

// scale sets x to factor times z.
func scale(x []float64, factor float64, z []float64) {
	z = z[:len(x)]
	for i := range x {
		x[i] = factor * z[i]
	}
}

// ones sets x to the vector that the iteration starts with.
func ones(x []float64) {
	for i := range x {
		x[i] = 1
	}
}
