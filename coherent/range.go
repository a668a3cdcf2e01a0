package coherent

// Many elements at once, and loops over them.

import (
	"iter"

	"github.com/gopgas/gopgas/internal/plural"
)

// Local returns this PE's share, to be read and written until this PE's next fence, in the order of the indexes. What
// other PEs have changed of it since this PE last had it is fetched. It panics with *pgas.PeerError if a PE that has
// some of it is lost.
func (a *Array[T]) Local() []T {
	lo, hi := a.Share()
	return a.memory.Update(lo, hi)
}

// Fill sets all elements of this PE's share to v. Nothing is fetched but the blocks at the edges.
func (a *Array[T]) Fill(v T) {
	lo, hi := a.Share()
	mine := a.memory.Overwrite(lo, hi)
	for i := range mine {
		mine[i] = v
	}
}

// GetRange copies the elements from index lo on to dst. What this PE has no copy of is fetched, all at once. It panics
// as dsm.Array.View does.
func (a *Array[T]) GetRange(lo int, dst []T) {
	a.mustHave("GetRange", lo, len(dst))
	copy(dst, a.memory.View(lo, lo+len(dst)))
}

// PutRange copies src to the elements from index lo on. Nothing is fetched but the blocks at the edges; the PE's next
// release publishes all. It panics as dsm.Array.Overwrite does.
func (a *Array[T]) PutRange(lo int, src []T) {
	a.mustHave("PutRange", lo, len(src))
	copy(a.memory.Overwrite(lo, lo+len(src)), src)
}

// mustHave panics with *pgas.UsageError unless the array has n elements from lo on.
func (a *Array[T]) mustHave(op string, lo, n int) {
	a.mustBe(op)
	if lo < 0 || lo > a.memory.Len()-n {
		misuse(op, "%s from index %d on are out of range: the array has %s", plural.Count(n, "element"), lo, plural.Count(a.memory.Len(), "element"))
	}
}

// window is the number of elements that All reads at a time.
const window = 4096

// All returns the elements in the order of their indexes, with them. The loop reads some thousand at a time, by one
// fetch of the copies that are missing, so it may contain fences, and sees what they bring from the next some thousand
// on. It panics as dsm.Array.View does.
func (a *Array[T]) All() iter.Seq2[int, T] {
	a.mustBe("All")
	return func(yield func(int, T) bool) {
		n := a.memory.Len()
		values := make([]T, min(window, n))
		for lo := 0; lo < n; lo += len(values) {
			values = values[:min(len(values), n-lo)]
			a.GetRange(lo, values)
			for i, v := range values {
				if !yield(lo+i, v) {
					return
				}
			}
		}
	}
}

// LocalAll returns this PE's share as pointers into Local, with the indexes, in their order. The loop contains no
// fence.
func (a *Array[T]) LocalAll() iter.Seq2[int, *T] {
	a.mustBe("LocalAll")
	return func(yield func(int, *T) bool) {
		lo, _ := a.Share()
		mine := a.Local()
		for at := range mine {
			if !yield(lo+at, &mine[at]) {
				return
			}
		}
	}
}
