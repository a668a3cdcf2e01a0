//go:build race

package strands

import (
	"context"
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/transport"
)

// A kind says what a task does.
type kind uint8

const (
	stop       kind = iota
	put             // copies local to remote
	get             // copies remote to local
	read            // copies the source local to copied
	update          // applies an atomic
	store           // stores the old value of an atomic in local
	signal          // puts, and then applies an atomic
	putNote         // puts, and leaves a note
	getNote         // gets, and leaves a note
	note            // leaves a note
	atomicNote      // applies an atomic that returns its value, and leaves a note
	postNote        // applies an atomic that returns nothing, and leaves a note
	fence           // makes ended what the target's operations after a fence follow
)

// maxAfter is how many clocks a task can follow: those of all strands of a target, of its fences and of quiets.
const maxAfter = maxStrands + 2

// A task is one operation, and its results.
type task struct {
	kind   kind
	after  [maxAfter]*clock // what the task follows besides its initiator
	nafter int

	pe            int
	off           uint64            // of remote in its heap
	remote, local []byte            // what is accessed at the target and at the initiator
	copied        []byte            // where a source is copied to
	blocks        transport.Strided // the blocks of remote and local; no blocks: both are contiguous
	op            transport.Op
	word          transport.Word
	at            []byte // the bytes of word
	operand, cond uint64
	stamp         transport.Stamp
	read          *clock // that of the source
	fenced        *clock // that of the target

	old uint64 // the old value of an atomic
	ok  bool   // there was room for the note
}

// follow makes t follow c.
//
//go:norace
func (t *task) follow(c *clock) {
	t.after[t.nafter] = c
	t.nafter++
}

// act does what t says on strand s.
//
//go:norace
func (t *task) act(s *strand) {
	switch t.kind {
	case put:
		t.copyBlocks(t.remote, t.local, t.blocks.RemoteStride, t.blocks.LocalStride, false)
	case get:
		t.copyBlocks(t.local, t.remote, t.blocks.LocalStride, t.blocks.RemoteStride, true)
	case read:
		t.copyBlocks(t.copied, t.local, t.blocks.BlockBytes, t.blocks.LocalStride, true)
		t.read.add()
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
	default:
		t.actNotified(s)
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

// actNotified does what t says and leaves a note, if there is room for the note.
//
//go:norace
func (t *task) actNotified(s *strand) {
	n := transport.Note{Stamp: t.stamp, Bytes: uint64(t.word.Bytes), Off: t.word.Off}
	switch t.kind {
	case putNote:
		t.ok = s.mem.PutNotify(t.pe, t.off, t.local, t.stamp)
	case getNote:
		t.ok = s.mem.GetNotifyNB(t.pe, t.local, t.off, t.stamp)
	case note:
		t.ok = s.mem.NotifyAfter(t.pe, transport.Note{Stamp: t.stamp, Bytes: uint64(len(t.remote)), Off: t.off}, func() {})
	case atomicNote:
		t.old, t.ok, _ = s.mem.AtomicNotify(context.Background(), t.pe, t.op, t.word, t.operand, t.cond, t.stamp)
	case postNote:
		t.ok = s.mem.NotifyAfter(t.pe, n, func() { t.update(s) })
	}
}

// copyBlocks copies the blocks of src to those of dst, which start dstStep and srcStep bytes after each other. With
// reading it reads shared memory, and writes it otherwise; the detector sees what is the program's.
//
//go:norace
func (t *task) copyBlocks(dst, src []byte, dstStep, srcStep int, reading bool) {
	n, count := t.blocks.BlockBytes, t.blocks.Count
	if count == 0 {
		n, count = len(src), 1
	}
	for i := range count {
		d, s := dst[i*dstStep:][:n], src[i*srcStep:][:n]
		if reading {
			reads(s)
		}
		move(d, s)
		if t.kind != read {
			writes(d)
		}
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
