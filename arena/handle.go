package arena

// Handles. The 64 bits of one are, from the lowest:
//
//	length      12 bits  the number of elements; all ones: the header of the record has it
//	granule     32 bits  where the record begins in the part of its PE; 0 in the zero handle only
//	generation   3 bits  of the arena, when the record was stored
//	PE          17 bits  whose part it is in

import "fmt"

const (
	lengthBits     = 12
	granuleBits    = 32
	generationBits = 3
	peBits         = 17

	granuleShift    = lengthBits
	generationShift = granuleShift + granuleBits
	peShift         = generationShift + generationBits

	longLength = 1<<lengthBits - 1

	// MaxPEs is the number of PEs that handles can name.
	MaxPEs = 1 << peBits
)

var _ [peShift + peBits - 64]byte
var _ [64 - peShift - peBits]byte

// A Handle names a record of elements of T in an Arena. It is plain data of 8 bytes: it can be stored in symmetric
// memory, exchanged by atomics (it is a pgas.Word), compared, and sent to other PEs. It is valid in the arena that it
// is from, until the record is freed or the arena reset or closed. The zero Handle names nothing.
type Handle[T any] uint64

// Bytes is the handle of a record of bytes, or of a string.
type Bytes = Handle[byte]

// IsZero reports whether h names nothing.
func (h Handle[T]) IsZero() bool { return h == 0 }

// PE returns the PE whose memory the record is in; 0 if h names nothing.
func (h Handle[T]) PE() int { return int(h >> peShift) }

// String describes h for messages.
func (h Handle[T]) String() string {
	if h == 0 {
		return "no record"
	}
	length := fmt.Sprint(h.length())
	if h.length() == longLength {
		length += " or more"
	}
	return fmt.Sprintf("record of %s elements at granule %d of PE %d, generation %d", length, h.granule(), h.PE(), h.generation())
}

func (h Handle[T]) length() uint64     { return uint64(h) & longLength }
func (h Handle[T]) granule() uint64    { return uint64(h) >> granuleShift & (1<<granuleBits - 1) }
func (h Handle[T]) generation() uint64 { return uint64(h) >> generationShift & (1<<generationBits - 1) }

// handleOf makes the handle of n elements at a granule of PE pe.
func handleOf[T any](pe int, granule, generation, n uint64) Handle[T] {
	generation &= 1<<generationBits - 1
	return Handle[T](uint64(pe)<<peShift | generation<<generationShift | granule<<granuleShift | min(n, longLength))
}
