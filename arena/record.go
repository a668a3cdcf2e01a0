package arena

// Records: storing, loading and freeing them.

import (
	"reflect"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Store allocates a record in the memory of PE pe, puts the elements of v there, and returns its handle. It is not
// collective. The allocation waits for pe: a few atomics if pe is on this host, a round trip or more if not. v may be
// reused when Store returns; the record is visible at pe after a Quiet, or in the order of a Fence, of the default
// context.
//
// It returns *FullError if the record does not fit. It panics with *pgas.UsageError if pe is out of range or T holds
// pointers, and with *pgas.PeerError if pe is lost.
func Store[T any](a *Arena, pe int, v []T) (Handle[T], error) {
	a.mustBeOpen("Store")
	a.mustHave("Store", pe)
	hook.MustBePlain(reflect.TypeFor[T](), "arena.Store")
	n := uint64(len(v))
	granule, class, err := a.allocate(pe, n*uint64(reflect.TypeFor[T]().Size()))
	if err != nil {
		return 0, err
	}
	a.header(granule).Set(pe, allocated|uint64(class)<<classShift|n)
	if n > 0 {
		elements[T](a, granule, n).Put(pe, v)
	}
	return handleOf[T](pe, granule, a.generation.Load(), n), nil
}

// StoreValue is Store of one element.
func StoreValue[T any](a *Arena, pe int, v T) (Handle[T], error) { return Store(a, pe, []T{v}) }

// StoreString is Store of the bytes of s.
func (a *Arena) StoreString(pe int, s string) (Bytes, error) { return Store(a, pe, []byte(s)) }

// Load returns a copy of the record that h names, wherever it is. It waits for it: one get, and one fetch more if the
// record has 4,095 elements or more. What was put into the record by PEs in whose order this PE is, is in the copy. It
// panics with
// *pgas.UsageError if h names no record of a, and with *pgas.PeerError if its PE is lost.
func Load[T any](a *Arena, h Handle[T]) []T {
	pe, s := sliceFor("Load", a, h)
	v := make([]T, s.Len())
	s.Get(pe, v)
	return v
}

// LoadValue returns the first element of the record that h names, as Load does. It panics with *pgas.UsageError if the
// record is empty.
func LoadValue[T any](a *Arena, h Handle[T]) T {
	pe, s := sliceFor("LoadValue", a, h)
	return s.At(0).Get(pe)
}

// LoadString returns the record that h names as a string, as Load does.
func (a *Arena) LoadString(h Bytes) string { return string(Load(a, h)) }

// Append appends the record that h names to dst, and returns the longer slice. It is Load without an allocation where
// dst has room.
func Append[T any](a *Arena, dst []T, h Handle[T]) []T {
	pe, s := sliceFor("Append", a, h)
	at := len(dst)
	dst = append(dst, make([]T, s.Len())...)
	s.Get(pe, dst[at:])
	return dst
}

// Len returns how many elements the record that h names has. It moves nothing for less than 4,095, and is a fetch for
// more. It panics as Load does.
func Len[T any](a *Arena, h Handle[T]) int {
	_, s := sliceFor("Len", a, h)
	return s.Len()
}

// Slice returns the record that h names as a range of symmetric memory, and the PE that has it. Operations on that
// range with that PE are operations on the record: puts and gets of a part or of all, non-blocking ones, put with
// signal, and Ptr, which is the record itself as Go memory if its PE is on this host. The same range of other PEs is
// other records. It is valid as long as h. It panics as Load does.
func Slice[T any](a *Arena, h Handle[T]) (pe int, s pgas.Slice[T]) { return sliceFor("Slice", a, h) }

// sliceFor is Slice for the operation op.
func sliceFor[T any](op string, a *Arena, h Handle[T]) (pe int, s pgas.Slice[T]) {
	n := a.mustName(op, uint64(h))
	return h.PE(), elements[T](a, h.granule(), n)
}

// Free frees the record that h names, for other records. It is not collective: any PE may free a record, and one PE
// does. No PE may access it any more, so PEs that do must have told this one that they are through, and their puts to
// it must be complete. It waits for the record's PE, a few atomics. It panics with *pgas.UsageError if h names no
// record of a or the record has been freed, and with *pgas.PeerError if its PE is lost.
func Free[T any](a *Arena, h Handle[T]) {
	a.mustName("Free", uint64(h))
	header := a.header(h.granule()).Fetch(h.PE())
	if header&allocated == 0 || !a.push(h.PE(), h.granule(), header) {
		misuse("Free", "a handle of a freed record (%v): a record is freed once", h)
	}
}

// elements returns the n elements of the record at a granule.
func elements[T any](a *Arena, granule, n uint64) pgas.Slice[T] {
	return pgas.FieldSlice[T](a.mem.At(int(granule)), headerBytes, int(n))
}

// mustHave panics with *pgas.UsageError if pe is out of range, and with *pgas.PeerError if it is known to be lost.
func (a *Arena) mustHave(op string, pe int) {
	if pe < 0 || pe >= len(a.near) {
		misuse(op, "PE %d is out of range: this job has PEs 0 to %d", pe, len(a.near)-1)
	}
	a.mustLive(pe)
}

// mustLive panics with *pgas.PeerError if pe is known to be lost. The memory of a PE of this host outlives it, and
// accesses to it would go on.
func (a *Arena) mustLive(pe int) {
	if err := a.w.Lost(pe); err != nil {
		panic(err)
	}
}

// mustName panics with *pgas.UsageError if h names no record of a, and with *pgas.PeerError if its PE is known to be
// lost. It returns the record's length. What it does not find, without PGAS_CHECK, is the handle of a freed record, if
// that is short.
func (a *Arena) mustName(op string, handle uint64) (n uint64) {
	a.mustBeOpen(op)
	h := Bytes(handle)
	switch {
	case h.IsZero():
		misuse(op, "the zero Handle names no record: test IsZero first, or use what Store has returned")
	case h.PE() >= len(a.near) || h.granule() == 0 || h.granule() >= a.granules:
		misuse(op, "a handle of another arena (%v): use it with the arena that it is from", h)
	case h.generation() != a.generation.Load()&(1<<generationBits-1):
		misuse(op, "a handle from before Reset (%v), which has dropped its record: the arena is in generation %d", h, a.generation.Load()&(1<<generationBits-1))
	}
	a.mustLive(h.PE())
	if n = h.length(); n < longLength && !a.w.Checks() {
		return n
	}
	header := a.header(h.granule()).Fetch(h.PE())
	length := header & valueMask
	if header&allocated == 0 || min(length, longLength) != n {
		misuse(op, "a handle of a freed record (%v): nothing may use it after Free", h)
	}
	return length
}
