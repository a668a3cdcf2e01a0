package image

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestFrames: a Frame has the bytes of the image that Write writes, whatever image it had before, and a copy that is
// kept up to date by Unsent has them, too.
func TestFrames(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		var f Frame
		var memory, other []byte
		grow := func(n uint64) ([]byte, error) {
			if n > uint64(len(memory)) {
				memory = append(memory, make([]byte, n-uint64(len(memory)))...)
			}
			return memory, nil
		}
		h, sections, data := draw(r)
		for version := range uint64(8) {
			switch r.IntN(4) {
			case 0:
				h, sections, data = draw(r)
			case 1:
				if len(sections) > 0 { // one grows or shrinks
					i := r.IntN(len(sections))
					sections[i].Count = r.Uint64N(2 * (sections[i].Count + 1))
					data[i] = append(data[i], make([]byte, sections[i].Bytes())...)[:sections[i].Bytes()]
				}
			default:
				for _, b := range data {
					if len(b) > 0 {
						b[r.IntN(len(b))]++
					}
					if r.IntN(2) == 0 { // many chunks next to each other
						for from := r.IntN(len(b) + 1); from < len(b) && r.IntN(20) > 0; from += 100 {
							b[from]++
						}
					}
				}
			}
			h.Cut.Version = version
			if err := f.Lay(h, sections, grow); err != nil {
				t.Fatal(err)
			}
			for i := range sections {
				if err := f.Update(i, cut(r, data[i])); err != nil {
					t.Fatal(err)
				}
			}
			f.Seal(h)
			want := written(t, r, h, sections, data)
			if !bytes.Equal(f.Bytes(), want) {
				t.Fatalf("seed %d, version %d: the frame has other bytes", seed, version)
			}
			if r.IntN(4) == 0 {
				continue // the copy falls behind
			}
			if len(other) < len(want) {
				other = append(other, make([]byte, len(want)-len(other))...)
			}
			for _, x := range f.Unsent() {
				copy(other[x.From:x.To], f.Bytes()[x.From:x.To])
			}
			if f.Sent(); !bytes.Equal(other[:len(want)], want) {
				t.Fatalf("seed %d, version %d: the copy has other bytes", seed, version)
			}
		}
	}
}

// TestFrameRefuses: pieces that are not the section are refused.
func TestFrameRefuses(t *testing.T) {
	var f Frame
	h, s := Head{PEs: 1}, []Section{{Name: "x", Width: 1, Count: 8}}
	if err := f.Lay(h, s, func(n uint64) ([]byte, error) { return make([]byte, n), nil }); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 7, 9} {
		if f.Update(0, [][]byte{make([]byte, n)}) == nil {
			t.Errorf("%d bytes are taken for 8", n)
		}
	}
	if f.Lay(Head{}, s, nil) == nil {
		t.Error("a head without PEs is taken")
	}
}
