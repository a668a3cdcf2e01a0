package main

// The inner loops against naive twins, over sizes and alignments. What lies around the points must stay as it is.

import (
	"slices"
	"testing"
)

// points returns so many different whole numbers, whose weighted sums are exact.
func points(n, seed int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((i*i*31 + i*17*seed + seed) % 1009 * 8)
	}
	return v
}

func checkOneRow(t *testing.T, n, toAt, rowAt, otherAt int) {
	t.Helper()
	const margin = 3
	to, row := points(toAt+n+margin, 1), points(rowAt+n+2*radius+margin, 2)
	var other [4][]float64 // north2, north1, south1, south2
	for i := range other {
		other[i] = points(otherAt+n+margin, 3+i)[otherAt:]
	}
	want := slices.Clone(to)
	for x := range n {
		west, east := row[rowAt+x:], row[rowAt+x+radius+1:]
		for distance, weight := range map[int]float64{1: near, 2: far} {
			want[toAt+x] += weight * (east[distance-1] - west[radius-distance])
			want[toAt+x] += weight * (other[1+distance][x] - other[2-distance][x])
		}
	}
	oneRow(to[toAt:][:n], row[rowAt:], other[0], other[1], other[2], other[3])
	if !slices.Equal(to, want) {
		t.Errorf("%d points, %d, %d and %d from the start: %v, want %v", n, toAt, rowAt, otherAt, to, want)
	}
}

func checkIncrement(t *testing.T, n, at int) {
	t.Helper()
	row := points(at+n+3, 1)
	want := slices.Clone(row)
	for x := range n {
		want[at+x]++
	}
	increment(row[at:][:n])
	if !slices.Equal(row, want) {
		t.Errorf("increment of %d points, %d from the start: %v, want %v", n, at, row, want)
	}
}

func TestRows(t *testing.T) {
	for n := range 70 {
		for at := range 5 {
			checkOneRow(t, n, at, 4-at, at/2)
			checkIncrement(t, n, at)
		}
	}
}

// Two rows at a time are what CPUs without vectors do.
func TestTwoRows(t *testing.T) {
	for n := range 9 {
		row := func(i int) []float64 { return points(n+2*radius, i) } // of six rows, from the north
		in := func(i int) []float64 { return row(i)[radius:][:n] }
		got, want := [2][]float64{points(n, 8), points(n, 9)}, [2][]float64{points(n, 8), points(n, 9)}
		twoRows(got[0], got[1], row(2), row(3), in(0), in(1), in(4), in(5))
		for i := range want {
			oneRowEach(want[i], row(2+i), in(i), in(i+1), in(i+3), in(i+4))
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("row %d of %d points: %v, want %v", i, n, got[i], want[i])
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add(uint8(21), uint8(1), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, n, toAt, rowAt, otherAt uint8) {
		checkOneRow(t, int(n), int(toAt), int(rowAt), int(otherAt))
		checkIncrement(t, int(n), int(toAt))
	})
}
