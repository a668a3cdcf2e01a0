package network

// What a World gets from its PE: channels, of which those with an adversary may read the sources of puts late.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Name returns "sim".
func (p *PE) Name() string { return "sim" }

// Heap returns nil: a PE reaches the heaps of others only through the simulator.
func (p *PE) Heap(int) []byte { return nil }

// Channel implements transport.Transport.
func (p *PE) Channel(bool) (transport.Channel, error) { return p.openChannel(false), nil }

// CPUChannel implements transport.CPUChanneler.
func (p *PE) CPUChannel(bool) (transport.Channel, error) { return p.openChannel(true), nil }

// openChannel returns a channel of p. With cpu, its atomics on the own host are the CPU's.
func (p *PE) openChannel(cpu bool) transport.Channel {
	p.channels++
	c := channel{pe: p, cpu: cpu, serial: p.channels}
	if p.net.late() != nil {
		return &lateChannel{channel: c}
	}
	return &c
}

// Close implements transport.Transport.
func (p *PE) Close() error { return nil }

// A lateChannel is a channel of a network with an adversary: its puts may read their sources late.
type lateChannel struct {
	channel
	handles uint64 // handles of sources so far
}

// lend returns a handle of src, which a put is going to read: 0 if the put reads it at the call.
func (c *lateChannel) lend() (handle uint64) {
	if a := c.pe.net.late(); a == nil || !a.draw() {
		return 0
	}
	c.handles++
	return c.handles
}

// PutZcopy implements transport.ZeroCopyPutter.
func (c *lateChannel) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	handle := c.lend()
	c.putParts(pe, dst, src, handle)
	return handle
}

// PutNotifyZcopy implements transport.ZeroCopyPutter.
func (c *lateChannel) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return 0, false
	}
	handle := c.lend()
	c.putNotify(pe, dst, src, s, handle)
	return handle, true
}

// PutSignalZcopy implements transport.ZeroCopyPutter.
func (c *lateChannel) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	handle := c.lend()
	c.putSignal(pe, dst, src, sig, op, value, handle)
	return handle
}

// PutStridedZcopy implements transport.ZeroCopyPutter. Each block is a put of its own.
func (c *lateChannel) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	handle := c.lend()
	for i := range b.Count {
		c.putParts(pe, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes], handle)
	}
	return handle
}

// Released implements transport.ZeroCopyPutter.
func (c *lateChannel) Released(pe int, handle uint64) bool {
	return !slices.ContainsFunc(c.flow(pe).unapplied, func(o *Op) bool {
		return o.late != nil && o.late.source != nil && o.late.handle == handle
	})
}

// AwaitReleased implements transport.ZeroCopyPutter. It reads the sources that the caller waits for, and completes
// nothing.
func (c *lateChannel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	for _, f := range c.all {
		for _, o := range f.unapplied {
			if pe < 0 || o.late != nil && o.late.handle == handle {
				o.readSource()
			}
		}
	}
	return context.Cause(ctx)
}

var _ transport.ZeroCopyPutter = (*lateChannel)(nil)
