package random

import (
	"math/big"
	"testing"
)

// TestNext compares with integers of any size, by the definition.
func TestNext(t *testing.T) {
	factor, mod := big.NewInt(Multiplier), new(big.Int).Lsh(big.NewInt(1), 46)
	if want := new(big.Int).Exp(big.NewInt(5), big.NewInt(13), nil); factor.Cmp(want) != 0 {
		t.Fatalf("Multiplier is %v, 5^13 is %v", factor, want)
	}
	for _, seed := range []int64{1, 271828183, 314159265, 1<<46 - 1} {
		g, x := New(uint64(seed)), big.NewInt(seed)
		for i := range 1000 {
			x.Mul(x, factor).Mod(x, mod)
			want := float64(x.Int64()) / float64(1<<46)
			if got := g.Next(); got != want {
				t.Fatalf("seed %d, value %d: got %v, want %v", seed, i, got, want)
			}
		}
	}
}

// TestSkip compares a jump with as many steps.
func TestSkip(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 7, 64, 1000, 65536, 99999} {
		jumped, stepped := New(314159265), New(314159265)
		jumped.Skip(n)
		for range n {
			stepped.Next()
		}
		if jumped != stepped {
			t.Errorf("Skip(%d) and %d steps differ: %v, %v", n, n, jumped, stepped)
		}
	}
	// Further than steps could go: the parts of a jump make the whole, and the period is 2^44.
	whole, parts := New(271828183), New(271828183)
	whole.Skip(1<<43 + 12345)
	parts.Skip(1 << 42)
	parts.Skip(1<<42 + 12345)
	if whole != parts {
		t.Errorf("two jumps of 2^42 and one of 2^43 differ: %v, %v", whole, parts)
	}
	around := New(271828183)
	if around.Skip(1 << 44); around != New(271828183) {
		t.Errorf("2^44 steps do not return to the seed: %v", around)
	}
}
