package main

import (
	"slices"
	"testing"
)

// naiveNeeds returns which PEs need tile (m, n), from what the tasks of all tiles read.
func naiveNeeds(l layout, m, n int) map[int]bool {
	needs := map[int]bool{}
	l.each(func(number, r, c int) {
		reads := func(row, column int) {
			if row == m && column == n && number != l.number(m, n) {
				needs[l.owner(number)] = true
			}
		}
		for k := range c {
			reads(r, k)
			reads(c, k)
		}
		reads(c, c)
	})
	return needs
}

func TestLayout(t *testing.T) {
	for _, rows := range []int{1, 2, 5, 9} {
		for _, npes := range []int{1, 2, 3, 7, 45} {
			l := newLayout(4*rows-1, 4, npes)
			if l.rows != rows {
				t.Fatalf("%d rows, want %d", l.rows, rows)
			}
			next, marks := 0, make([]bool, npes)
			l.each(func(number, m, n int) {
				if number != next || l.number(m, n) != number || number >= l.tiles() {
					t.Errorf("%d rows: tile %d, %d has the numbers %d and %d", rows, m, n, number, l.number(m, n))
				}
				next++
				checkAudience(t, l, m, n, l.audience([]int{-1}, marks, m, n)[1:])
				if slices.Contains(marks, true) {
					t.Errorf("marks are left: %v", marks)
				}
			})
			if next != l.tiles() {
				t.Errorf("%d rows: %d tiles, not %d", rows, next, l.tiles())
			}
		}
	}
}

// checkAudience checks that the audience is the owner and the PEs that need the tile, each of which is sent it once.
func checkAudience(t *testing.T, l layout, m, n int, audience []int) {
	t.Helper()
	if audience[0] != l.owner(l.number(m, n)) {
		t.Errorf("the audience of %d, %d is %v, and PE %d makes it", m, n, audience, l.owner(l.number(m, n)))
	}
	needs := naiveNeeds(l, m, n)
	needs[audience[0]] = true
	given := []int{audience[0]}
	for i := range audience {
		given = append(given, children(audience, i)...)
	}
	slices.Sort(given)
	for _, pe := range given {
		if !needs[pe] {
			t.Errorf("PE %d does not need tile %d, %d", pe, m, n)
		}
	}
	if len(given) != len(needs) || len(slices.Compact(given)) != len(needs) {
		t.Errorf("tile %d, %d of %d rows on %d PEs is given to %v, and %d PEs need it", m, n, l.rows, l.npes, given, len(needs))
	}
}
