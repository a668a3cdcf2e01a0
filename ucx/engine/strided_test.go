//go:build cgo

package engine

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// kinds of records, as in wire.h
const (
	recScatter = 10
	recGather  = 11
	recSpread  = 12
)

// strided is a request with one record for n bytes of blocks from off on.
func strided(kind byte, seq, lane uint32, off uint64, n, block uint32, step uint64, rest []byte) []byte {
	m := message(seq, 0, lane, off, 0)
	m = m[:len(m)-8]
	m[headBytes] = kind
	binary.NativeEndian.PutUint32(m[headBytes+4:], n)
	if kind == recGather {
		m = append(m, make([]byte, 16)...)
	}
	m = binary.NativeEndian.AppendUint64(m, uint64(block))
	m = binary.NativeEndian.AppendUint64(m, step)
	return append(m, rest...)
}

func TestScatter(t *testing.T) {
	n := newNode(t, 1, true, 0)
	n.apply(strided(recScatter, 1, 1, 1000, 6, 2, 5, []byte("aabbcc\x00\x00")))
	if got, want := n.heap[998:1014], []byte("\x00\x00aa\x00\x00\x00bb\x00\x00\x00cc\x00\x00"); !bytes.Equal(got, want) || n.rejected() != 0 {
		t.Fatalf("the heap holds %q, want %q; %d rejected", got, want, n.rejected())
	}
}

// TestImpossibleBlocks: what does not fit the heap, or makes no sense, is rejected whole.
func TestImpossibleBlocks(t *testing.T) {
	const heap = 1 << 20
	n := newNode(t, 1, true, 0)
	lane := uint32(0)
	for _, kind := range []byte{recScatter, recGather} {
		for _, c := range []struct {
			what  string
			off   uint64
			n     uint32
			block uint32
			step  uint64
		}{
			{"nothing", 64, 0, 8, 8},
			{"empty blocks", 64, 16, 0, 8},
			{"half a block", 64, 12, 8, 8},
			{"blocks that overlap", 64, 16, 8, 7},
			{"the last block past the end", heap - 23, 16, 8, 16},
			{"the first block past the end", heap, 8, 8, 8},
			{"a step past the end", 64, 16, 8, heap},
			{"a step that wraps to the start", 64, 16, 8, ^uint64(0) - 7},
			{"steps whose sum wraps", 64, 24, 8, 1 << 63},
			{"an offset that wraps", ^uint64(0) - 7, 16, 8, 8},
		} {
			lane++
			before := n.rejected()
			n.apply(strided(kind, 1, lane, c.off, c.n, c.block, c.step, make([]byte, (c.n+7)&^7)))
			if n.rejected() != before+1 {
				t.Errorf("kind %d: %s: accepted", kind, c.what)
			}
		}
	}
	n.apply(strided(recGather, 1, lane+1, 64, 64<<10, 8, 8, nil))
	if n.rejected() != uint64(lane)+1 {
		t.Error("an answer that does not fit a message was accepted")
	}
	n.apply(strided(recScatter, 1, lane+2, 64, 16, 8, 8, make([]byte, 8)))
	if n.rejected() != uint64(lane)+2 {
		t.Error("a record that ends before its data was accepted")
	}
	n.apply(strided(recSpread, 1, lane+3, 64, 16, 8, 8, make([]byte, 16)))
	if n.rejected() != uint64(lane)+3 {
		t.Error("a record whose data is missing was accepted")
	}
	if !bytes.Equal(n.heap, make([]byte, heap)) {
		t.Error("the heap was written")
	}
}
