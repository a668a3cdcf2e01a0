package boot

import (
	"encoding/binary"
	"sync/atomic"
)

// textBytes is the capacity of a Text.
const textBytes = 256

// A Text is a text that a PE publishes about itself; the launcher reads it without the PE's help. A reader may
// read a part of an old text and a part of a new one, but never more than textBytes.
type Text struct{ words [textBytes / 8]atomic.Uint64 }

// Store replaces the text. It truncates a text that is too long.
func (t *Text) Store(s string) {
	for i := range t.words {
		var b [8]byte
		s = s[copy(b[:], s):]
		t.words[i].Store(binary.LittleEndian.Uint64(b[:]))
		if b[7] == 0 {
			return
		}
	}
}

// Clear makes the text empty.
func (t *Text) Clear() {
	if t.words[0].Load() != 0 {
		t.words[0].Store(0)
	}
}

// Load returns the text.
func (t *Text) Load() string {
	var s []byte
	for i := range t.words {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], t.words[i].Load())
		for _, c := range b {
			if c == 0 {
				return string(s)
			}
			s = append(s, c)
		}
	}
	return string(s)
}
