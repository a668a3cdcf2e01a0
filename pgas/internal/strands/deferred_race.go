//go:build race && (amd64 || arm64)

package strands

// Puts that read their sources after the call, and strided transfers. To the detector strands of their own read the
// sources, and others put what they have read, so that a quiet of the sources completes nothing else.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// handles are the sources of the latest puts that do not wait.
type handles struct {
	clocks [64]clock // of the source with a number, at that number modulo the length
	last   uint64
}

// readSource has a strand of sources read the source of t, a put, and returns its handle. The caller has locked c.
//
//go:norace
func (c *Channel) readSource(t *task) (handle uint64) {
	handle = c.handles.last + 1
	c.runSource(&task{kind: read, local: t.local, blocks: t.blocks, read: &c.handles.clocks[handle%uint64(len(c.handles.clocks))]})
	c.handles.last = handle
	return handle
}

// Released reports that a source has been read, and orders the calling goroutine after that.
//
//go:norace
func (c *Channel) Released(_ int, handle uint64) bool {
	c.lock()
	defer c.unlock()
	c.followSource(handle)
	return true
}

// followSource orders the calling goroutine after the read of a source.
//
//go:norace
func (c *Channel) followSource(handle uint64) {
	if n := uint64(len(c.handles.clocks)); c.handles.last-handle < n {
		c.handles.clocks[handle%n].follow()
	} else {
		c.followSources()
	}
}

// followSources orders the calling goroutine after the reads of all sources.
//
//go:norace
func (c *Channel) followSources() {
	for _, s := range c.sources {
		if s != nil {
			s.ended.follow()
		}
	}
}

// AwaitReleased orders the calling goroutine after the read of a source, or of all sources if pe < 0.
//
//go:norace
func (c *Channel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	c.lock()
	defer c.unlock()
	if pe >= 0 {
		c.followSource(handle)
	} else {
		c.followSources()
	}
	return context.Cause(ctx)
}

//go:norace
func (c *Channel) PutZcopy(pe int, dst uint64, src []byte) (handle uint64) {
	c.lock()
	defer c.unlock()
	t := task{kind: put, pe: pe, remote: c.heap(pe, dst, len(src)), local: src}
	handle = c.readSource(&t)
	c.run(&c.target(pe).puts, &t, heapSpan(pe, dst, len(src)), span{})
	return handle
}

//go:norace
func (c *Channel) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) (handle uint64) {
	c.lock()
	defer c.unlock()
	t := c.signalTask(pe, dst, len(src), sig, op, value)
	t.local = src
	handle = c.readSource(&t)
	c.runSignal(&t)
	return handle
}

//go:norace
func (c *Channel) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (handle uint64, ok bool) {
	c.lock()
	defer c.unlock()
	t := c.notedTask(put, pe, dst, len(src), s)
	t.local = src
	handle = c.readSource(&t)
	ok = c.runNoted(&t, heapSpan(pe, dst, len(src)))
	return handle, ok
}

//go:norace
func (c *Channel) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) (handle uint64) {
	c.lock()
	defer c.unlock()
	t := c.stridedTask(put, pe, dst, b)
	t.local = src
	handle = c.readSource(&t)
	c.run(&c.target(pe).puts, &t, heapSpan(pe, dst, len(t.remote)), span{})
	return handle
}

// stridedTask returns the task of a strided transfer from or to offset off of pe.
//
//go:norace
func (c *Channel) stridedTask(k kind, pe int, off uint64, b transport.Strided) task {
	return task{kind: k, pe: pe, off: off, remote: c.heap(pe, off, extent(b)), blocks: b}
}

// extent returns the bytes from the first to the last byte of the remote blocks.
//
//go:norace
func extent(b transport.Strided) int {
	if b.Count == 0 {
		return 0
	}
	return (b.Count-1)*b.RemoteStride + b.BlockBytes
}

//go:norace
func (c *Channel) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	t := c.stridedTask(put, pe, dst, b)
	t.local = src
	t.readBlocks()
	c.lock()
	defer c.unlock()
	c.run(&c.target(pe).puts, &t, heapSpan(pe, dst, len(t.remote)), span{})
}

//go:norace
func (c *Channel) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	c.await(pe, heapSpan(pe, src, extent(b)), false, false)
	return c.mem.GetStrided(ctx, pe, dst, src, b)
}

//go:norace
func (c *Channel) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	c.lock()
	defer c.unlock()
	t := c.stridedTask(get, pe, src, b)
	t.local = dst
	c.runGet(&t)
}

var (
	_ transport.ZeroCopyPutter = (*Channel)(nil)
	_ transport.Strider        = (*Channel)(nil)
)
