package arena

// Allocation in the part of one PE, by any PE at once.
//
// A part is granules. Sizes have classes, in which a record takes the size of its class. Each PE has words that all PEs
// update by compare-and-swap:
//
//	fresh  the first granule that was never allocated: an allocation moves it on
//	free   for each class, a stack of freed records. The word has the granule of the first in its low half, and in
//	       its high half a count of its changes. Each record's header has the granule of the next.
//
// A stack whose first record is popped and pushed again while a PE looks at it has another count, so the
// compare-and-swap of that PE fails. Headers are accessed atomically only, since such a PE may read one that is in use
// again.
//
// Invariant: a granule belongs to one record: it is allocated, in one stack, or fresh.

import (
	"fmt"
	"math/bits"

	"github.com/gopgas/gopgas/pgas"
)

const (
	numClasses = 4*(granuleBits-3) + 8
	freshWord  = numClasses // the index of the word behind those of the classes
	numWords   = numClasses + 1

	// A header: whether the record is allocated, its class, and its length, or the granule of the next record if it is
	// free.
	allocated  = 1 << 63
	classShift = 55
	classMask  = 0xff
	valueMask  = 1<<40 - 1
)

// A FullError reports that a record does not fit the part of a PE.
type FullError struct {
	PE    int // the PE whose part is full
	Bytes int // bytes that the record takes
	Used  int // bytes of the part that were ever allocated
	Max   int // bytes of the part
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the arena of PE %d is full: %d bytes asked for, %d of %d used; give arena.New more bytes for each PE, Free records, or Reset the arena",
		e.PE, e.Bytes, e.Used, e.Max)
}

// classOf returns the class of a record of so many granules: one for each number up to 8, then four for each power of
// two.
func classOf(granules uint64) int {
	shift := max(0, bits.Len64(granules-1)-3)
	return 4*shift + int((granules-1)>>shift)
}

// sizeOf returns the granules of a record of a class.
func sizeOf(class int) uint64 {
	if class < 8 {
		return uint64(class) + 1
	}
	shift := (class - 4) / 4
	return uint64((class-4)%4+5) << shift
}

// allocate allocates a record for that many bytes, headers not counted, in the part of PE pe. It returns its granule
// and class.
func (a *Arena) allocate(pe int, bytes uint64) (granule uint64, class int, err error) {
	need := (headerBytes + bytes + granuleBytes - 1) / granuleBytes
	if need >= a.granules {
		return 0, 0, a.full(pe, need)
	}
	class = classOf(need)
	if a.near[pe] {
		if granule = a.pop(pe, class); granule != 0 {
			return granule, class, nil
		}
	}
	if granule = a.takeFresh(pe, sizeOf(class)); granule != 0 {
		return granule, class, nil
	}
	for ; class < numClasses && sizeOf(class) < a.granules; class++ {
		if granule = a.pop(pe, class); granule != 0 {
			return granule, class, nil
		}
	}
	return 0, 0, a.full(pe, sizeOf(classOf(need)))
}

// full returns the error of a record of so many granules.
func (a *Arena) full(pe int, size uint64) error {
	return &FullError{PE: pe, Bytes: int(size) * granuleBytes, Used: a.Used(pe), Max: int(a.granules-1) * granuleBytes}
}

// takeFresh takes fresh granules of PE pe. It returns 0 if there are not so many.
func (a *Arena) takeFresh(pe int, size uint64) uint64 {
	word, seen := a.word(freshWord), a.fresh[pe].Load()
	if a.near[pe] {
		seen = word.Fetch(pe)
	}
	for {
		if seen+size > a.granules {
			return 0
		}
		was := word.CompareSwap(pe, seen, seen+size)
		if was == seen {
			a.fresh[pe].Store(seen + size)
			return seen
		}
		seen = was
	}
}

// pop takes a freed record of PE pe. It returns 0 if there is none of the class.
func (a *Arena) pop(pe, class int) uint64 {
	free := a.word(class)
	for first := free.Fetch(pe); ; {
		granule := first & (1<<granuleBits - 1)
		if granule == 0 {
			return 0
		}
		next := a.header(granule).Fetch(pe) & (1<<granuleBits - 1)
		was := free.CompareSwap(pe, first, changed(first)|next)
		if was == first {
			return granule
		}
		first = was
	}
}

// push frees the record with the given header. It reports whether that is still its header.
func (a *Arena) push(pe int, granule, header uint64) bool {
	class := int(header >> classShift & classMask)
	free := a.word(class)
	first := free.Fetch(pe)
	link := func() uint64 { return uint64(class)<<classShift | first&(1<<granuleBits-1) }
	if a.header(granule).CompareSwap(pe, header, link()) != header {
		return false
	}
	for {
		was := free.CompareSwap(pe, first, changed(first)|granule)
		if was == first {
			return true
		}
		first = was
		a.header(granule).Swap(pe, link()) // complete on return: before the next try
	}
}

// changed returns the count of a stack's word after one more change, in its place.
func changed(first uint64) uint64 { return (first>>granuleBits + 1) << granuleBits }

// word returns one of the words of each PE.
func (a *Arena) word(i int) pgas.Atomic[uint64] { return pgas.AtomicOf(a.words, i) }

// header returns the header of the record at a granule.
func (a *Arena) header(granule uint64) pgas.Atomic[uint64] {
	return pgas.FieldAtomic[uint64](a.mem.At(int(granule)), 0)
}
