package main

// The inner loops against naive twins, over sizes, alignments and strides. What lies around the elements must stay as
// it is.

import (
	"slices"
	"testing"
)

// numbered returns n different whole numbers, which sums keep exact.
func numbered(n, from int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(from + 3*i)
	}
	return v
}

func checkAdd(t *testing.T, n, toAt, fromAt int) {
	t.Helper()
	const margin = 2
	to, from := numbered(toAt+n+margin, 1), numbered(fromAt+n+margin, 100000)
	want := slices.Clone(to)
	for i := range n {
		want[toAt+i] += from[fromAt+i]
	}
	add(to[toAt:][:n], from[fromAt:][:n])
	if !slices.Equal(to, want) {
		t.Errorf("add of %d elements, %d and %d from the start: %v, want %v", n, toAt, fromAt, to, want)
	}
}

func TestAdd(t *testing.T) {
	for n := range 70 {
		for at := range 5 {
			checkAdd(t, n, at, 4-at)
		}
	}
}

func checkLanesAcross(t *testing.T, rows, stride, order, toAt, fromAt int, stream bool) {
	t.Helper()
	const margin = 8
	to := numbered(toAt+rows*stride+margin, 1)
	from := numbered(fromAt+lanes*order+margin, 100000)
	wantTo, wantFrom := slices.Clone(to), slices.Clone(from)
	for row := range rows {
		for lane := range lanes {
			wantTo[toAt+row*stride+lane] = from[fromAt+lane*order+row]
			wantFrom[fromAt+lane*order+row]++
		}
	}
	lanesAcross(to[toAt:], stride, from[fromAt:], order, rows, stream)
	if !slices.Equal(to, wantTo) || !slices.Equal(from, wantFrom) {
		t.Errorf("%d rows, strides %d and %d, %d and %d from the start, past the caches %v:\n%v, want\n%v\n%v, want\n%v",
			rows, stride, order, toAt, fromAt, stream, to, wantTo, from, wantFrom)
	}
}

func TestLanesAcross(t *testing.T) {
	for rows := range 22 {
		for at := range 5 {
			for _, stream := range []bool{false, true} {
				checkLanesAcross(t, rows, lanes+at, rows+4-at, at, 4-at, stream)
				checkLanesAcross(t, rows, lanes, rows, at, at, stream)
				checkLanesAcross(t, rows, 2*lanes, rows+1, 0, at, stream)
			}
		}
	}
}

func FuzzVectors(f *testing.F) {
	f.Add(uint8(9), uint8(3), uint8(5), uint8(1), uint8(2), true)
	f.Fuzz(func(t *testing.T, rows, apart, longer, toAt, fromAt uint8, stream bool) {
		checkAdd(t, int(rows), int(toAt), int(fromAt))
		checkLanesAcross(t, int(rows), lanes+int(apart), int(rows)+int(longer), int(toAt), int(fromAt), stream)
	})
}
