package containers

// The words of a plain value.

import "unsafe"

// distWordsOf returns how many words of 8 bytes a T needs: one at least.
func distWordsOf[T any]() int {
	var v T
	return max(1, int((unsafe.Sizeof(v)+7)/8))
}

// distToWords copies the bytes of v to words.
func distToWords[T any](words []uint64, v *T) { copy(distBytes(words), distBytesOf(v)) }

// distFromWords copies words to the bytes of v.
func distFromWords[T any](v *T, words []uint64) { copy(distBytesOf(v), distBytes(words)) }

func distBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

func distBytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
