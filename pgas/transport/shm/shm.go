// Package shm is the transport between PEs whose heaps are mapped in this process: the PEs of one
// host, or goroutines of one test. Loads, stores and locked instructions do everything, so an
// operation is complete at the target when it returns; only its visibility must still be ordered.
//
// The runtime's fast path does the same inline; this is what it falls back to when every access must
// be seen (statistics, tracing, checks), and what the conformance suite compares others with.
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
	seg   *boot.Segment
	first int
}

// Open returns the transport between the PEs of seg.
func Open(seg *boot.Segment) *Transport {
	return &Transport{seg: seg, first: int(seg.Header.First)}
}

// Name is "shm".
func (t *Transport) Name() string { return "shm" }

// Heap returns the heap of pe, or nil if pe is on another host.
func (t *Transport) Heap(pe int) []byte {
	if i := pe - t.first; i >= 0 && i < len(t.seg.States) {
		return t.seg.Heap(i)
	}
	return nil
}

// Close does nothing: the segment belongs to the job.
func (t *Transport) Close() error { return nil }

// Channel returns a channel. It keeps no state, so private and shared ones are alike.
func (t *Transport) Channel(private bool) (transport.Channel, error) {
	c := &channel{first: t.first, states: t.seg.States}
	for i := range t.seg.States {
		c.heaps = append(c.heaps, t.seg.Heap(i))
	}
	return c, nil
}

type channel struct {
	first  int
	heaps  [][]byte
	states []*boot.State
}

func (c *channel) local(pe int) int {
	if i := pe - c.first; i >= 0 && i < len(c.heaps) {
		return i
	}
	panic(fmt.Sprintf("shm: PE %d is not on this host", pe))
}

func (c *channel) Put(pe int, dst uint64, src []byte) {
	heap := c.heaps[c.local(pe)]
	copy(heap[dst:dst+uint64(len(src))], src)
}

func (c *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.Put(pe, dst, src)
	c.Post(pe, op, transport.Word{Off: sig, Bytes: 8}, value)
}

func (c *channel) Get(_ context.Context, pe int, dst []byte, src uint64) error {
	c.GetNB(pe, dst, src)
	return nil
}

func (c *channel) GetNB(pe int, dst []byte, src uint64) {
	copy(dst, c.heaps[c.local(pe)][src:src+uint64(len(dst))])
}

func (c *channel) Atomic(_ context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	i := c.local(pe)
	old := apply(c.heaps[i], op, at, operand, cond)
	c.states[i].Ring(at.Off)
	return old, nil
}

func (c *channel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	i := c.local(pe)
	old := apply(c.heaps[i], op, at, operand, cond)
	c.states[i].Ring(at.Off)
	if at.Bytes == 4 {
		binary.NativeEndian.PutUint32(dst, uint32(old))
	} else {
		binary.NativeEndian.PutUint64(dst, old)
	}
}

func (c *channel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	i := c.local(pe)
	apply(c.heaps[i], op, at, operand, 0)
	c.states[i].Ring(at.Off)
}

func (c *channel) Fence(int) { FullFence() }

func (c *channel) Quiet(context.Context, int) error {
	FullFence()
	return nil
}

func (c *channel) Close() error { return nil }

// FullFence orders every load and store before it against every one after it, for all observers.
// A locked exchange is the cheapest instruction that Go offers for it on amd64, and on arm64 an
// acquire-release exchange is a full barrier too.
func FullFence() {
	var word atomic.Uint32
	word.Swap(1)
}
