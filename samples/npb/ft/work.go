package main

// What one goroutine does with the planes and the columns that are its own. A plane holds the points of one z; its
// index is y, x. A column holds the points of one y; its index is z, x. A grid is all planes, or all columns.

// work holds a goroutine's tables and its part of the problem.
type work struct {
	class
	*fourier
	decay
	zlo, zhi, ylo, yhi int          // this goroutine's planes and columns
	amplitudes         []complex128 // amplitudes of these columns, in the space of wave numbers
	field              []complex128 // the planes of this goroutine after a step
}

// newWork returns the work on planes zlo to zhi-1 and columns ylo to yhi-1.
func newWork(c class, zlo, zhi, ylo, yhi int) *work {
	return &work{
		class: c, fourier: newFourier(max(c.nx, c.ny, c.nz)), decay: newDecay(c),
		zlo: zlo, zhi: zhi, ylo: ylo, yhi: yhi,
		amplitudes: make([]complex128, (yhi-ylo)*c.column()), field: make([]complex128, (zhi-zlo)*c.plane()),
	}
}

// start stores the initial values of plane z, transformed in its two directions.
func (k *work) start(plane []complex128, z int) {
	k.fill(plane, z)
	k.transform(plane, bundle{lines: k.ny, apart: k.nx, length: k.nx, step: 1}, false)
	k.transform(plane, bundle{lines: k.nx, apart: 1, length: k.ny, step: k.nx}, false)
}

// take stores rows, which are those of plane z and of the columns of this goroutine, in its columns.
func (k *work) take(rows []complex128, z int) {
	for i := range k.yhi - k.ylo {
		copy(k.amplitudes[i*k.column()+z*k.nx:][:k.nx], rows[i*k.nx:])
	}
}

// finish ends the transform of this goroutine's columns in the direction of z.
func (k *work) finish() {
	for y := k.ylo; y < k.yhi; y++ {
		k.transform(k.own(y), bundle{lines: k.nx, apart: 1, length: k.nz, step: k.nx}, false)
	}
}

// own returns the amplitudes of column y.
func (k *work) own(y int) []complex128 { return k.amplitudes[(y-k.ylo)*k.column():][:k.column()] }

// advance moves column y on by one step of time, and stores it, transformed back in the direction of z.
func (k *work) advance(column []complex128, y int) {
	k.step(k.own(y), column, y)
	k.transform(column, bundle{lines: k.nx, apart: 1, length: k.nz, step: k.nx}, true)
}

// put stores rows, which are those of column y and of the planes of this goroutine, in its planes.
func (k *work) put(rows []complex128, y int) {
	for i := range k.zhi - k.zlo {
		copy(k.field[i*k.plane()+y*k.nx:][:k.nx], rows[i*k.nx:])
	}
}

// sum ends the transform back of this goroutine's planes and stores their parts of the checksum of step t. sums is of
// its planes only.
func (k *work) sum(sums []complex128, t int) {
	for z := k.zlo; z < k.zhi; z++ {
		plane := k.field[(z-k.zlo)*k.plane():][:k.plane()]
		k.transform(plane, bundle{lines: k.nx, apart: 1, length: k.ny, step: k.nx}, true)
		k.transform(plane, bundle{lines: k.ny, apart: k.nx, length: k.nx, step: 1}, true)
		sums[(z-k.zlo)*steps+t] = k.checksum(plane, z)
	}
}
