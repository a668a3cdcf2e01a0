package main

// The heat equation on a grid that is bent into a tube: rows go around a ring, columns end at cold walls. PEs own
// strips of rows. What both versions of the program share is here.

// Width is the number of cells in a row. A row is 32 KiB: one block of a coherent region.
const Width = 4096

// rate is how much of a difference flows in one step. Above 0.25 the method is unstable.
const rate = 0.2

// row is one row of the grid.
type row = [Width]float64

// initial returns the state of row i of n before the first step: one hot spot.
func initial(i, n int) (r row) {
	if i == n/3 {
		for j := Width / 4; j < Width/2; j++ {
			r[j] = 100
		}
	}
	return r
}

// advance stores in out the row that follows from mid and the rows on both sides of it.
func advance(out, above, mid, below *row) {
	for j := range mid {
		left, right := 0.0, 0.0
		if j > 0 {
			left = mid[j-1]
		}
		if j < Width-1 {
			right = mid[j+1]
		}
		out[j] = mid[j] + rate*(above[j]+below[j]+left+right-4*mid[j])
	}
}

// alone solves the equation on one grid of n rows.
func alone(n, steps int) []row {
	grid, spare := make([]row, n), make([]row, n)
	for i := range grid {
		grid[i] = initial(i, n)
	}
	for range steps {
		for i := range grid {
			advance(&spare[i], &grid[(i+n-1)%n], &grid[i], &grid[(i+1)%n])
		}
		grid, spare = spare, grid
	}
	return grid
}

// unevenness adds the squares of the cells of rows. It falls in each step, while the heat itself stays until it reaches
// a wall.
func unevenness(grid []row) (s float64) {
	for i := range grid {
		for _, t := range grid[i] {
			s += t * t
		}
	}
	return s
}
