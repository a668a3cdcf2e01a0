package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/samples/npb/npbtest"
)

func TestClassS(t *testing.T) { npbtest.Verify(t, program(), "S") }

// TestPlace compares with a sort, over ranges, and wants wrong ranks to show.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys, want := make([]int32, 1000), make([]int32, 1000)
	for i := range keys {
		keys[i] = rng.Int32N(64)
	}
	copy(want, keys)
	slices.Sort(want)
	atMost := make([]int32, 64)
	count(atMost, keys)
	accumulate(atMost, 0)
	sorted, filled := make([]int32, len(keys)), 0
	for from, first := 0, 0; from < 64; from += 16 {
		last := int(atMost[from+15])
		filled += place(sorted[first:last], first, keys, atMost[from:from+16], from)
		first = last
	}
	if !slices.Equal(sorted, want) || filled != len(keys) || descents(sorted) != 0 {
		t.Errorf("%d of %d keys placed, %d descents", filled, len(keys), descents(sorted))
	}
	atMost[30]--
	if got := place(sorted, 0, keys, atMost, 0) - descents(sorted); got == len(keys) {
		t.Error("a wrong rank does not show in the count of keys in order")
	}
}
