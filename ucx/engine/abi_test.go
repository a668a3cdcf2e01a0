//go:build cgo

package engine

import "testing"

// TestPaddedAsInC: Go and C leave the same space behind a record.
func TestPaddedAsInC(t *testing.T) {
	for n := range 33 {
		if padded(n) != wirePad(n) {
			t.Errorf("%d bytes take %d in Go, %d in C", n, padded(n), wirePad(n))
		}
	}
}
