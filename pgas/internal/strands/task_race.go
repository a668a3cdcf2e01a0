//go:build race && (amd64 || arm64)

package strands

import (
	"context"
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/transport"
)

// A kind says what a task does.
type kind uint8

const (
	none   kind = iota
	put         // copies local to remote
	get         // copies remote to local
	read        // reads the source local of a put
	update      // applies an atomic
	store       // stores the old value of an atomic in local
	signal      // puts, and then applies an atomic
	fence       // makes ended what the target's operations after a fence follow
)

// A task is one operation, and its results.
type task struct {
	kind          kind
	pe            int
	off           uint64            // of remote in its heap
	remote, local []byte            // what is accessed at the target and at the initiator
	blocks        transport.Strided // the blocks of remote and local; no blocks: both are contiguous
	op            transport.Op
	word          transport.Word
	at            []byte // the bytes of word
	operand, cond uint64
	noted         bool   // a note is left too
	ticket        uint64 // of the note
	note          transport.Note
	read          *clock // that of the source
	fenced        *clock // that of the target

	old uint64 // the old value of an atomic
}

// act does what t says on strand s.
//
//go:norace
func (t *task) act(s *strand) {
	switch t.kind {
	case put:
		t.copyBlocks(t.remote, t.local, t.blocks.RemoteStride, t.blocks.LocalStride)
	case get:
		t.copyBlocks(t.local, t.remote, t.blocks.LocalStride, t.blocks.RemoteStride)
	case read:
		t.readBlocks()
		t.read.setTo()
	case update:
		t.update(s)
	case store:
		acquireFrom(t.at)
		putWord(t.local, t.old)
		writes(t.local)
	case signal:
		move(t.remote, t.local)
		writes(t.remote)
		t.update(s)
	case fence:
		t.fenced.add()
	}
}

// update applies an atomic without a result. A store orders the strand after nothing. To the detector the other atomics
// order the strand after those that have updated the word, so different words have different strands if there are some.
//
//go:norace
func (t *task) update(s *strand) {
	if t.op != transport.Set {
		t.old, _ = s.mem.Atomic(context.Background(), t.pe, t.op, t.word, t.operand, t.cond)
		return
	}
	set(t.at, t.operand)
	s.mem.Ring(t.pe, t.word.Off)
}

// shape returns how many blocks a side of t has, and their bytes, if the side has n bytes in one block.
//
//go:norace
func (t *task) shape(n int) (count, bytes int) {
	if t.blocks.Count == 0 {
		return 1, n
	}
	return t.blocks.Count, t.blocks.BlockBytes
}

// copyBlocks copies the blocks of src to those of dst, which start dstStep and srcStep bytes after each other. A put
// does not read its source here: that is another step.
//
//go:norace
func (t *task) copyBlocks(dst, src []byte, dstStep, srcStep int) {
	count, n := t.shape(len(src))
	for i := range count {
		d, s := dst[i*dstStep:][:n], src[i*srcStep:][:n]
		if t.kind == get {
			reads(s)
		}
		move(d, s)
		writes(d)
	}
}

// readBlocks reads the source of a put.
//
//go:norace
func (t *task) readBlocks() {
	count, n := t.shape(len(t.local))
	for i := range count {
		reads(t.local[i*t.blocks.LocalStride:][:n])
	}
}

// putWord stores v in b, which has 4 or 8 bytes.
//
//go:norace
func putWord(b []byte, v uint64) {
	var word [8]byte
	binary.NativeEndian.PutUint64(word[:], v)
	if len(b) == 4 {
		binary.NativeEndian.PutUint32(word[:], uint32(v))
	}
	move(b, word[:len(b)])
}
