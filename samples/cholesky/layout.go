package main

// How the matrix is cut into tiles, which PE owns each, and which PEs need it.
//
// Only the lower triangle has tiles. They are numbered column by column, from the diagonal down, and dealt to
// the PEs one after the other. A tile has one place, by its number, in the symmetric memory of all PEs.
//
// Tile (m, n) of the factor is an operand of those to the right of it in row m, and of those in column m. So
// the PEs that own these need it, and it is broadcast to them along a binary tree: its owner sends it
// to two of them, and each of these to two others as soon as it arrives. The PEs that need it first come first.

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

// tiles returns the number of tiles.
func (l layout) tiles() int { return l.rows * (l.rows + 1) / 2 }

// number returns the number of the tile in row m and column n, which is at most m.
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

// audience returns the PEs that get tile (m, n) when it is made: its owner, and then those that need it, in
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

// children returns the part of an audience that the PE at index i of it sends the tile to.
func children(audience []int, i int) []int {
	lo, hi := min(2*i+1, len(audience)), min(2*i+3, len(audience))
	return audience[lo:hi]
}
