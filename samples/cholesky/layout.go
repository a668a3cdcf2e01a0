package main

// How the matrix is cut into tiles, whose they are, and who needs them.
//
// Only the lower triangle has tiles. They are numbered column by column, from the diagonal down, and dealt to
// the PEs one after the other. A tile has one place, by its number, in the symmetric memory of all PEs.
//
// Tile (m, n) of the factor is an operand of those to the right of it in row m, and of those in column m. So
// the PEs of these need it, and it is broadcast to them along a binary tree: the PE that has made it gives it
// to two of them, each of these to two others as soon as it comes. Those that need it first stand first.

// layout is how a matrix is cut.
type layout struct {
	order int // of the matrix
	side  int // of a tile
	rows  int // of tiles
	npes  int
}

func newLayout(order, side, npes int) layout {
	return layout{order, side, (order + side - 1) / side, npes}
}

// tiles is how many there are.
func (l layout) tiles() int { return l.rows * (l.rows + 1) / 2 }

// number is that of the tile in row m and column n, which is at most m.
func (l layout) number(m, n int) int { return n*l.rows - n*(n-1)/2 + m - n }

// each calls f for all tiles, in the order of their numbers.
func (l layout) each(f func(number, m, n int)) {
	number := 0
	for n := range l.rows {
		for m := n; m < l.rows; m++ {
			f(number, m, n)
			number++
		}
	}
}

func (l layout) owner(number int) int { return number % l.npes }

// audience is the PEs that are to have tile (m, n) when it is made: its owner, and then those that need it, in
// the order in which they do. It appends them to pes, and uses marks, which are false for all PEs before and
// after.
func (l layout) audience(pes []int, marks []bool, m, n int) []int {
	add := func(number int) {
		if pe := l.owner(number); !marks[pe] {
			marks[pe] = true
			pes = append(pes, pe)
		}
	}
	first := len(pes)
	add(l.number(m, n))
	for c := n + 1; c <= m; c++ {
		add(l.number(m, c))
	}
	for r := m + 1; r < l.rows; r++ {
		add(l.number(r, m))
	}
	for _, pe := range pes[first:] {
		marks[pe] = false
	}
	return pes
}

// children is the part of an audience that the PE which has place i in it gives the tile to.
func children(audience []int, i int) []int {
	lo, hi := min(2*i+1, len(audience)), min(2*i+3, len(audience))
	return audience[lo:hi]
}
