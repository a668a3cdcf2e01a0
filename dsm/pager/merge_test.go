//go:build cgo && linux

package pager

// The vector and word kernels do what the byte loop does, at all alignments and lengths.

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// copies are the three blocks of a merge, inside of larger buffers whose other bytes must not change.
type copies struct{ own, twin, latest []byte }

// agree runs both merges by a kernel and by bytes, and compares the results and all bytes around them.
func agree(t *testing.T, k kernel, in copies, at, n int, withLatest bool) {
	t.Helper()
	run := func(k kernel, release bool) (c copies, first, last int) {
		c = copies{bytes.Clone(in.own), bytes.Clone(in.twin), bytes.Clone(in.latest)}
		own, twin, latest := c.own[at:at+n], c.twin[at/2:at/2+n], c.latest[at/3:at/3+n]
		if !release {
			k.fetch(own, twin, latest)
			return c, 0, 0
		}
		if !withLatest {
			latest = nil
		}
		first, last = k.release(own, twin, latest)
		return c, first, last
	}
	for _, release := range []bool{true, false} {
		want, first, last := run(byBytes, release)
		got, f, l := run(k, release)
		if f != first || l != last || !bytes.Equal(got.own, want.own) || !bytes.Equal(got.twin, want.twin) || !bytes.Equal(got.latest, want.latest) {
			t.Fatalf("kernel %d, %d bytes at %d, release %v, latest %v: differs from the byte loop (changed %d to %d, want %d to %d)", k, n, at, release, withLatest, f, l, first, last)
		}
	}
}

// random returns blocks whose twin is the copy.
func random(r *rand.Rand, n int) copies {
	c := copies{make([]byte, n), make([]byte, n), make([]byte, n)}
	for i := range n {
		c.own[i], c.latest[i] = byte(r.Uint32()), byte(r.Uint32())
		c.twin[i] = c.own[i]
	}
	return c
}

// TestKernelsAgree goes through alignments and lengths with few and many changed bytes.
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for _, k := range []kernel{byWords, byAVX2} {
		if !k.permitted() {
			t.Logf("kernel %d: not by this processor", k)
			continue
		}
		for n := range 140 {
			for at := range 33 {
				c := random(r, 200)
				for range r.IntN(12) * r.IntN(12) {
					c.twin[r.IntN(len(c.twin))] ^= byte(1 << r.IntN(8))
				}
				agree(t, k, c, at, n, r.IntN(3) > 0)
			}
		}
	}
}

// TestByteLoop holds the byte loop to examples: own bytes stay, and others are the latest.
func TestByteLoop(t *testing.T) {
	own, twin := []byte("aXcYe"), []byte("abcde")
	if first, last := byBytes.release(own, twin, []byte("ABCDE")); first != 1 || last != 3 || string(own) != "AXCYE" || string(twin) != "AXCYE" {
		t.Errorf("release: %d to %d, %q, %q", first, last, own, twin)
	}
	own, twin = []byte("aXcYe"), []byte("abcde")
	if first, last := byBytes.release(own, twin, nil); first != 1 || last != 3 || string(own) != "aXcYe" || string(twin) != "aXcYe" {
		t.Errorf("release over the twin: %d to %d, %q, %q", first, last, own, twin)
	}
	own, twin = []byte("aXcYe"), []byte("abcde")
	if byBytes.fetch(own, twin, []byte("ABCDE")); string(own) != "AXCYE" || string(twin) != "ABCDE" {
		t.Errorf("fetch: %q, %q", own, twin)
	}
	if first, last := byBytes.release([]byte("same"), []byte("same"), nil); first != -1 || last != -1 {
		t.Errorf("nothing changed: %d to %d", first, last)
	}
}

// FuzzKernels looks for bytes for which the kernels differ.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("some bytes of a block that has been written"), []byte("some bytes of a block as it was before that"), uint8(3), true)
	f.Fuzz(func(t *testing.T, own, twin []byte, at uint8, withLatest bool) {
		n := min(len(own), len(twin)) - int(at)
		if n < 0 {
			return
		}
		c := copies{own, twin, append(bytes.Repeat([]byte{0x5a}, int(at)), twin...)}
		for _, k := range []kernel{byWords, byAVX2} {
			if k.permitted() {
				agree(t, k, c, int(at), n, withLatest)
			}
		}
	})
}
