// Package shm is the transport between PEs whose heaps are mapped in this process: the PEs of one
// host, or goroutines of one test. Loads, stores and locked instructions do everything, so an
// operation is complete at the target when it returns; only its visibility must still be ordered.
//
// The runtime's fast path does the same inline, and falls back to this package when every access must
// be seen (checks).
package shm

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Transport reaches the PEs of one segment.
type Transport struct {
	seg    *boot.Segment
	first  int
	queues []*NoteQueue // note queues of the PEs
}

// Open returns the transport that connects the PEs of seg.
func Open(seg *boot.Segment) *Transport {
	t := &Transport{seg: seg, first: int(seg.Header.First)}
	for i, state := range seg.States {
		t.queues = append(t.queues, NewNoteQueue(seg.Heap(i), state))
	}
	return t
}

// Name returns "shm".
func (t *Transport) Name() string { return "shm" }

// Heap returns the heap of pe, or nil if pe is on another host.
func (t *Transport) Heap(pe int) []byte {
	if i := pe - t.first; i >= 0 && i < len(t.seg.States) {
		return t.seg.Heap(i)
	}
	return nil
}

// Close does nothing, because the segment belongs to the job. The error is always nil.
func (t *Transport) Close() error { return nil }

// NoteQueue returns the queue of notes of pe, which is on this host.
func (t *Transport) NoteQueue(pe int) *NoteQueue { return t.queues[pe-t.first] }

// Channel returns a channel. It has no state, so private and shared ones are alike. The error is always nil.
func (t *Transport) Channel(private bool) (transport.Channel, error) { return t.Open(), nil }

// Open returns a channel by its own type, which is called without an interface.
func (t *Transport) Open() *Channel {
	c := &Channel{first: t.first, states: t.seg.States, queues: t.queues}
	for i := range t.seg.States {
		c.heaps = append(c.heaps, t.seg.Heap(i))
	}
	return c
}

// Channel is a transport.Channel to the PEs of one segment.
type Channel struct {
	first  int
	heaps  [][]byte
	states []*boot.State
	queues []*NoteQueue
}

// local returns the index of pe among the PEs of this host. It panics if pe is on another.
func (c *Channel) local(pe int) int {
	if i := pe - c.first; i >= 0 && i < len(c.heaps) {
		return i
	}
	panic(fmt.Sprintf("shm: PE %d is not on this host", pe))
}

func (c *Channel) Put(pe int, dst uint64, src []byte) {
	heap := c.heaps[c.local(pe)]
	Copy(heap[dst:dst+uint64(len(src))], src)
}

func (c *Channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.Put(pe, dst, src)
	c.Post(pe, op, transport.Word{Off: sig, Bytes: 8}, value)
}

func (c *Channel) Get(_ context.Context, pe int, dst []byte, src uint64) error {
	c.GetNB(pe, dst, src)
	return nil
}

func (c *Channel) GetNB(pe int, dst []byte, src uint64) {
	Copy(dst, c.heaps[c.local(pe)][src:src+uint64(len(dst))])
}

func (c *Channel) Atomic(_ context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	i := c.local(pe)
	old := apply(c.heaps[i], op, word, operand, cond)
	c.states[i].Ring(word.Off)
	return old, nil
}

func (c *Channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	i := c.local(pe)
	old := apply(c.heaps[i], op, word, operand, cond)
	c.states[i].Ring(word.Off)
	if word.Bytes == 4 {
		binary.NativeEndian.PutUint32(dst, uint32(old))
	} else {
		binary.NativeEndian.PutUint64(dst, old)
	}
}

func (c *Channel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	i := c.local(pe)
	apply(c.heaps[i], op, word, operand, 0)
	c.states[i].Ring(word.Off)
}

// Ring wakes pe if it waits for the word at an offset, which the caller has updated.
func (c *Channel) Ring(pe int, off uint64) { c.states[c.local(pe)].Ring(off) }

func (c *Channel) Fence(pe int) { StoreFence() }

func (c *Channel) Quiet(_ context.Context, pe int) error {
	FullFence()
	return nil
}

func (c *Channel) Close() error { return nil }

var _ transport.Channel = (*Channel)(nil)

// FullFence orders every load and store before it against every load and store after it, for all observers.
// A locked exchange is the cheapest full barrier that Go offers on amd64. On arm64 an acquire-release exchange
// is a full barrier too.
func FullFence() {
	var word atomic.Uint32
	word.Swap(1)
}
