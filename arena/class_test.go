package arena

import "testing"

// TestClasses: the class of a size is the least that holds it, sizes grow with classes, and no record takes more than a
// quarter in vain.
func TestClasses(t *testing.T) {
	for class := range numClasses - 1 {
		size, next := sizeOf(class), sizeOf(class+1)
		if classOf(size) != class || classOf(size+1) != class+1 || next <= size || 4*next > 5*size+4 {
			t.Fatalf("class %d has %d granules, the next %d; classes of %d and %d granules are %d and %d", class, size, next,
				size, size+1, classOf(size), classOf(size+1))
		}
	}
	if got := classOf(1<<granuleBits - 1); got != numClasses-1 {
		t.Errorf("the class of the largest record is %d, want %d", got, numClasses-1)
	}
}

// FuzzHandle: the parts of a handle come back.
func FuzzHandle(f *testing.F) {
	f.Add(uint32(1), uint32(1), uint64(0), uint64(0))
	f.Add(uint32(MaxPEs-1), uint32(1<<granuleBits-1), uint64(15), uint64(1<<40))
	f.Fuzz(func(t *testing.T, pe, granule uint32, generation, n uint64) {
		pe %= MaxPEs
		h := handleOf[int32](int(pe), uint64(granule), generation, n)
		if h.PE() != int(pe) || h.granule() != uint64(granule) || h.generation() != generation%8 || h.length() != min(n, longLength) {
			t.Errorf("PE %d, granule %d, generation %d, %d elements: %v", pe, granule, generation, n, h)
		}
	})
}
