package main

// What one goroutine does with the planes and the columns that are its own. A plane holds the points of one z; its
// index is y, x. A column holds the points of one y; its index is z, x. A step of time has two parts:
//
//	planes   the change that the equations ask for, and the systems of the lines in x and in y
//	columns  the systems of the lines in z; the changes are added
//
// The goroutine of a column thus has the newest states, and the goroutine of a plane needs them, and those of two
// planes on either side; the goroutine of a column needs the changes that the planes have come to.

// work holds a goroutine's part of the problem.
type work struct {
	class
	*flows
	*system
	zlo, zhi, ylo, yhi int     // this goroutine's planes and columns
	below, above       int     // the planes that it reads: below to above-1
	states             []state // states of the planes that it reads
	forcing            []state // forcing of this goroutine's planes
	changes            []state // of its columns
}

// newWork returns the work on planes zlo to zhi-1 and columns ylo to yhi-1.
func newWork(c class, zlo, zhi, ylo, yhi int) *work {
	k := &work{
		class: c, flows: newFlows(c.n), system: newSystem(c),
		zlo: zlo, zhi: zhi, ylo: ylo, yhi: yhi, below: max(zlo-2, 0), above: min(zhi+2, c.n),
		forcing: make([]state, (zhi-zlo)*c.plane()), changes: make([]state, (yhi-ylo)*c.plane()),
	}
	k.states = make([]state, (k.above-k.below)*c.plane())
	k.force()
	return k
}

// inside returns the part of lo to hi-1 that is not of the boundary.
func (k *work) inside(lo, hi int) (int, int) { return max(lo, 1), min(hi, k.n-1) }

// force computes the forcing of this goroutine's planes: what makes the exact solution stationary.
func (k *work) force() {
	for i := range k.states {
		k.states[i] = exact(k.place(i%k.n, i/k.n%k.n, k.below+i/k.plane()))
	}
	k.flow(k.forcing)
	for i := range k.forcing {
		k.forcing[i] = state{}.minus(k.forcing[i])
	}
}

// flow adds to out, which is of this goroutine's planes, what the flows in all directions change in a unit of time.
func (k *work) flow(out []state) {
	n, plane := k.n, k.plane()
	zlo, zhi := k.inside(k.zlo, k.zhi)
	for z := zlo; z < zhi; z++ {
		from, to := (z-k.below)*plane, (z-k.zlo)*plane
		for i := 1; i < n-1; i++ {
			k.flows.add(out, line{to + i*n, 1}, k.states, line{from + i*n, 1}, 0, 1, n-1)
		}
		for i := 1; i < n-1; i++ {
			k.flows.add(out, line{to + i, n}, k.states, line{from + i, n}, 1, 1, n-1)
		}
	}
	for y := 1; y < n-1; y++ {
		for x := 1; x < n-1; x++ {
			k.flows.add(out, line{y*n + x - k.zlo*plane, plane}, k.states, line{y*n + x - k.below*plane, plane}, 2, zlo, zhi)
		}
	}
}

// start stores the initial values of column y.
func (k *work) start(column []state, y int) {
	for i := range column {
		column[i] = k.initial(i%k.n, y, i/k.n)
	}
}

// take stores rows, which are those of column y and of the planes that this goroutine reads.
func (k *work) take(rows []state, y int) {
	for i := range k.above - k.below {
		copy(k.states[i*k.plane()+y*k.n:][:k.n], rows[i*k.n:])
	}
}

// residual stores in out, which is of this goroutine's planes, the change in a step of time that the equations ask for.
func (k *work) residual(out []state) {
	copy(out, k.forcing)
	k.flow(out)
	for i := range out {
		for m := range out[i] {
			out[i][m] *= k.class.dt
		}
	}
}

// sweep solves the systems of the lines in x and then in y of this goroutine's planes.
func (k *work) sweep(out []state) {
	n, plane := k.n, k.plane()
	zlo, zhi := k.inside(k.zlo, k.zhi)
	for z := zlo; z < zhi; z++ {
		from, to := (z-k.below)*plane, (z-k.zlo)*plane
		for i := 1; i < n-1; i++ {
			k.solve(out, line{to + i*n, 1}, k.states, line{from + i*n, 1}, 0)
		}
		for i := 1; i < n-1; i++ {
			k.solve(out, line{to + i, n}, k.states, line{from + i, n}, 1)
		}
	}
}

// put stores rows, which are those of plane z and of the columns of this goroutine, in its changes.
func (k *work) put(rows []state, z int) {
	for i := range k.yhi - k.ylo {
		copy(k.changes[i*k.plane()+z*k.n:][:k.n], rows[i*k.n:])
	}
}

// finish solves the systems of the lines in z of this goroutine's columns and adds the changes to the states.
func (k *work) finish(columns []state) {
	n, plane := k.n, k.plane()
	ylo, yhi := k.inside(k.ylo, k.yhi)
	for y := ylo; y < yhi; y++ {
		first := (y - k.ylo) * plane
		for x := 1; x < n-1; x++ {
			at := line{first + x, n}
			k.solve(k.changes, at, columns, at, 2)
			for z := 1; z < n-1; z++ {
				u, change := &columns[at.at(z)], &k.changes[at.at(z)]
				for m := range u {
					u[m] += change[m]
				}
			}
		}
	}
}

// sums returns the sums of squares of the residual of this goroutine's planes and of the error of its columns.
func (k *work) sums(residual, columns []state) []float64 {
	var r, e state
	for _, v := range residual {
		r.addSquares(v)
	}
	for i, v := range columns {
		e.addSquares(v.minus(exact(k.place(i%k.n, k.ylo+i/k.plane(), i/k.n%k.n))))
	}
	return append(r[:], e[:]...)
}
