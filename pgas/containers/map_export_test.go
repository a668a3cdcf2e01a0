package containers

import "bytes"

// ReadMapFile reads a snapshot file of a Map[K, V].
func ReadMapFile[K comparable, V any](file []byte) ([]uint64, error) {
	l := mapLayoutFor(sizeOf[K](), sizeOf[V](), 1, 1)
	_, words, err := readMapFile(bytes.NewReader(file), mapLayoutOf[K, V](), l.slotWords()-1)
	return words, err
}
