// Package payload is what benches send: the number of the operation in the first bytes, and a pattern behind them, so
// that the receiver can tell what has arrived. The same rules stand in tests/peers/measure.h.
package payload

import (
	"encoding/binary"
	"fmt"
)

// Fill writes the pattern to all of p.
func Fill(p []byte) {
	for i := range p {
		p[i] = byte(i*7 + 3)
	}
}

// Stamp writes the number of an operation to the first bytes of p.
func Stamp(p []byte, number int) {
	if len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, uint64(number))
		return
	}
	for i := range p {
		p[i] = byte(number >> (8 * i))
	}
}

// Check returns how p differs from what operation number sent.
func Check(p []byte, number int) error {
	want := make([]byte, min(len(p), 8))
	Stamp(want, number)
	for i, b := range p {
		switch {
		case i < 8 && b != want[i]:
			return fmt.Errorf("the payload of operation %d was sent last, but % x arrived", number, p[:len(want)])
		case i >= 8 && b != byte(i*7+3):
			return fmt.Errorf("byte %d of the payload is wrong", i)
		}
	}
	return nil
}

// LastIn returns the last of done operations that fell into slot.
func LastIn(slot, slots, done int) int {
	return slot + (done-1-slot)/slots*slots
}
