package bounce

// A transport that fails the test when it is given memory that it must not access, and that completes operations
// without a wait as late as it may: the source of a put without a copy is read, and the destination of a get filled,
// in Quiet.

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/transport"
)

type strictChannel struct {
	t         *testing.T
	heap      []byte // of the only PE
	forbidden *Memory
	later     []func()
	notes     int
}

// allow fails the test if the transport may not access b.
func (c *strictChannel) allow(b []byte) []byte {
	c.t.Helper()
	if c.forbidden.holds(b) {
		c.t.Errorf("%d bytes of registered memory have reached the transport", len(b))
	}
	return b
}

func (c *strictChannel) Put(_ int, dst uint64, src []byte) { copy(c.heap[dst:], c.allow(src)) }

func (c *strictChannel) PutSignal(pe int, dst uint64, src []byte, sig uint64, _ transport.Op, value uint64) {
	c.Put(pe, dst, src)
	c.heap[sig] = byte(value)
}

func (c *strictChannel) Get(_ context.Context, _ int, dst []byte, src uint64) error {
	copy(c.allow(dst), c.heap[src:])
	return nil
}

func (c *strictChannel) GetNB(_ int, dst []byte, src uint64) {
	now := bytes.Clone(c.heap[src:][:len(dst)])
	c.later = append(c.later, func() { copy(c.allow(dst), now) })
}

func (c *strictChannel) Atomic(context.Context, int, transport.Op, transport.Word, uint64, uint64) (uint64, error) {
	panic("not used")
}

func (c *strictChannel) AtomicNB(pe int, _ transport.Op, word transport.Word, _, _ uint64, dst []byte) {
	c.GetNB(pe, dst[:word.Bytes], word.Off)
}

func (c *strictChannel) Post(int, transport.Op, transport.Word, uint64) { panic("not used") }

func (c *strictChannel) PutNotify(pe int, dst uint64, src []byte, _ transport.Stamp) bool {
	c.Put(pe, dst, src)
	c.notes++
	return true
}

func (c *strictChannel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, _ transport.Stamp) (bool, error) {
	c.notes++
	return true, c.Get(ctx, pe, dst, src)
}

func (c *strictChannel) GetNotifyNB(pe int, dst []byte, src uint64, _ transport.Stamp) bool {
	c.notes++
	c.GetNB(pe, dst, src)
	return true
}

func (c *strictChannel) AtomicNotify(context.Context, int, transport.Op, transport.Word, uint64, uint64, transport.Stamp) (uint64, bool, error) {
	panic("not used")
}

func (c *strictChannel) PostNotify(int, transport.Op, transport.Word, uint64, transport.Stamp) bool {
	panic("not used")
}

func (c *strictChannel) Fence(int) {}

func (c *strictChannel) Quiet(context.Context, int) error {
	for _, f := range c.later {
		f()
	}
	c.later = nil
	return nil
}

func (c *strictChannel) Close() error { return nil }

func (c *strictChannel) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	c.Put(pe, dst, src)
	return 1
}

func (c *strictChannel) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	return 1, c.PutNotify(pe, dst, src, s)
}

func (c *strictChannel) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	c.PutSignal(pe, dst, src, sig, op, value)
	return 1
}

func (c *strictChannel) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	c.PutStrided(pe, dst, src, b)
	return 1
}

func (c *strictChannel) Released(int, uint64) bool { return true }

func (c *strictChannel) AwaitReleased(context.Context, int, uint64) error { return nil }

func (c *strictChannel) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	c.allow(src)
	for i := range b.Count {
		c.Put(pe, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes])
	}
}

func (c *strictChannel) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	c.allow(dst)
	for i := range b.Count {
		c.Get(ctx, pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
	return nil
}

func (c *strictChannel) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	for i := range b.Count {
		c.GetNB(pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
}

// bounceTest is a route over a strictChannel, memory that must not reach that, and what both are to hold.
type bounceTest struct {
	ctx        context.Context
	c          *strictChannel
	via        *Channel
	zeroCopy   transport.ZeroCopyPutter
	strided    transport.Strider
	mine, want []byte // memory of this PE, and what it is to hold when all is complete
	remote     []byte // what the heap is to hold
}

// quiet completes everything, as Context.Quiet does.
func (b *bounceTest) quiet() error {
	issued := b.via.Landings.Issued()
	err := b.via.Quiet(b.ctx, -1)
	b.via.Landings.Land(-1, issued)
	return err
}

// bounced are the operations, by name: each moves n bytes between offset at of mine and offset off of the heap.
var bounced = map[string]func(b *bounceTest, at, off, n int){
	"Put": func(b *bounceTest, at, off, n int) { b.put(at, off, n); b.via.Put(0, uint64(off), b.mine[at:][:n]) },
	"PutSignal": func(b *bounceTest, at, off, n int) {
		b.put(at, off, n)
		b.remote[len(b.remote)-1] = byte(n)
		b.via.PutSignal(0, uint64(off), b.mine[at:][:n], uint64(len(b.remote)-1), transport.Set, uint64(n))
	},
	"PutNotify": func(b *bounceTest, at, off, n int) {
		b.put(at, off, n)
		b.via.PutNotify(0, uint64(off), b.mine[at:][:n], 0)
	},
	"PutZcopy": func(b *bounceTest, at, off, n int) {
		b.put(at, off, n)
		b.zeroCopy.PutZcopy(0, uint64(off), b.mine[at:][:n])
	},
	"PutNotifyZcopy": func(b *bounceTest, at, off, n int) {
		b.put(at, off, n)
		b.zeroCopy.PutNotifyZcopy(0, uint64(off), b.mine[at:][:n], 0)
	},
	"PutSignalZcopy": func(b *bounceTest, at, off, n int) {
		b.put(at, off, n)
		b.remote[len(b.remote)-1] = byte(n)
		b.zeroCopy.PutSignalZcopy(0, uint64(off), b.mine[at:][:n], uint64(len(b.remote)-1), transport.Set, uint64(n))
	},
	"PutStridedZcopy": func(b *bounceTest, at, off, n int) {
		b.putStrided(at, off, n)
		b.zeroCopy.PutStridedZcopy(0, uint64(off), b.mine[at:][:n], blocksFor(n))
	},
	"Get": func(b *bounceTest, at, off, n int) {
		b.get(at, off, n)
		b.via.Get(b.ctx, 0, b.mine[at:][:n], uint64(off))
	},
	"GetNB": func(b *bounceTest, at, off, n int) { b.get(at, off, n); b.via.GetNB(0, b.mine[at:][:n], uint64(off)) },
	"GetNotify": func(b *bounceTest, at, off, n int) {
		b.get(at, off, n)
		b.via.GetNotify(b.ctx, 0, b.mine[at:][:n], uint64(off), 0)
	},
	"GetNotifyNB": func(b *bounceTest, at, off, n int) {
		b.get(at, off, n)
		b.via.GetNotifyNB(0, b.mine[at:][:n], uint64(off), 0)
	},
	"AtomicNB": func(b *bounceTest, at, off, n int) {
		if n >= 8 {
			b.get(at, off, 8)
			b.via.AtomicNB(0, transport.Fetch, transport.Word{Off: uint64(off), Bytes: 8}, 0, 0, b.mine[at:][:8])
		}
	},
	"PutStrided": func(b *bounceTest, at, off, n int) {
		b.putStrided(at, off, n)
		b.strided.PutStrided(0, uint64(off), b.mine[at:][:n], blocksFor(n))
	},
	"GetStrided":   func(b *bounceTest, at, off, n int) { b.getStrided(at, off, n, true) },
	"GetStridedNB": func(b *bounceTest, at, off, n int) { b.getStrided(at, off, n, false) },
}

// blocksFor returns blocks that fit n bytes on both sides.
func blocksFor(n int) transport.Strided {
	return transport.Strided{BlockBytes: max(n/20, 1), Count: min(max(n/30, 1), 10), LocalStride: max(n/20, 1) + n/40, RemoteStride: max(n/20, 1)}
}

func (b *bounceTest) putStrided(at, off, n int) {
	blocks := blocksFor(n)
	for i := range blocks.Count {
		b.put(at+i*blocks.LocalStride, off+i*blocks.RemoteStride, blocks.BlockBytes)
	}
}

func (b *bounceTest) getStrided(at, off, n int, wait bool) {
	blocks := blocksFor(n)
	for i := range blocks.Count {
		b.get(at+i*blocks.LocalStride, off+i*blocks.RemoteStride, blocks.BlockBytes)
	}
	if wait {
		b.strided.GetStrided(b.ctx, 0, b.mine[at:][:n], uint64(off), blocks)
	} else {
		b.strided.GetStridedNB(0, b.mine[at:][:n], uint64(off), blocks)
	}
}

func (b *bounceTest) put(at, off, n int) { copy(b.remote[off:], b.want[at:][:n]) }
func (b *bounceTest) get(at, off, n int) { copy(b.want[at:][:n], b.remote[off:]) }

// TestBounce: no operation gives registered memory to the transport, whose results are those of plain copies.
func TestBounce(t *testing.T) {
	for name := range bounced {
		for _, size := range []int{1, 8, 100, 5000, bounceBytes + 77} {
			t.Run(fmt.Sprintf("%s of %d", name, size), func(t *testing.T) { bounceOnce(t, name, size) })
		}
	}
}

func bounceOnce(t *testing.T, name string, size int) {
	source := rand.NewChaCha8([32]byte{byte(size)})
	random := rand.New(source)
	b := newBounceTest(t, 2*size+64, source)
	for range 4 {
		bounced[name](b, random.IntN(size+1), random.IntN(size+1), size)
		if err := b.quiet(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.mine, b.want) || !bytes.Equal(b.c.heap, b.remote) {
			t.Fatal("the data is not that of plain copies")
		}
	}
	if b.via.Landings.waiting.Load() != 0 || len(b.via.Landings.list) != 0 {
		t.Errorf("%d bounce buffers are left", len(b.via.Landings.list))
	}
}

// newBounceTest makes n bytes on both sides. Half of the local ones are registered, as two ranges.
func newBounceTest(t *testing.T, n int, random *rand.ChaCha8) *bounceTest {
	fill := func() []byte {
		b := make([]byte, n)
		random.Read(b)
		return b
	}
	memory := new(Memory)
	b := &bounceTest{ctx: t.Context(), mine: fill(), remote: fill()}
	b.want = slices.Clone(b.mine)
	b.c = &strictChannel{t: t, heap: slices.Clone(b.remote), forbidden: memory}
	b.via = Over(b.c, memory)
	b.zeroCopy, b.strided = b.via.ZeroCopy(b.c), b.via.Strided(b.c)
	if memory.Any() {
		t.Error("memory is registered at the start")
	}
	memory.Add(b.mine[n/8 : n/4])
	memory.Add(b.mine[n/2 : 7*n/8])
	return b
}

// TestLandingsOfTwoQuiets: a quiet copies the buffers of gets that were issued before it, and no others.
func TestLandingsOfTwoQuiets(t *testing.T) {
	var l Landings
	dst := make([]byte, 3)
	l.add(0, dst[0:1], []byte{1}, whole(1))
	l.add(1, dst[1:2], []byte{2}, whole(1))
	issued := l.issued.Load()
	l.add(0, dst[2:3], []byte{3}, whole(1)) // issued while the quiet waits
	l.Land(0, issued)
	if !bytes.Equal(dst, []byte{1, 0, 0}) {
		t.Errorf("after a quiet of PE 0: %v", dst)
	}
	l.Land(-1, issued)
	if !bytes.Equal(dst, []byte{1, 2, 0}) {
		t.Errorf("after a quiet of all PEs: %v", dst)
	}
	l.Land(-1, l.issued.Load())
	if !bytes.Equal(dst, []byte{1, 2, 3}) || l.waiting.Load() != 0 {
		t.Errorf("after the next quiet: %v", dst)
	}
}

// TestRegisterCoherentMemory: ranges come and go independently, the same one more than once too.
func TestRegisterCoherentMemory(t *testing.T) {
	var m Memory
	b := make([]byte, 100<<10)[:100] // too large for a stack, which may move
	first, again, other := m.Add(b[10:20]), m.Add(b[10:20]), m.Add(b[30:40])
	m.Add(nil)()
	for _, step := range []struct {
		undo func()
		want []bool // whether 5-10, 5-11, 19-20, 20-30, 39-100 are held
	}{
		{func() {}, []bool{false, true, true, false, true}},
		{first, []bool{false, true, true, false, true}},
		{first, []bool{false, true, true, false, true}},
		{other, []bool{false, true, true, false, false}},
		{again, []bool{false, false, false, false, false}},
	} {
		step.undo()
		got := []bool{m.holds(b[5:10]), m.holds(b[5:11]), m.holds(b[19:20]), m.holds(b[20:30]), m.holds(b[39:])}
		if !slices.Equal(got, step.want) {
			t.Errorf("held: %v, want %v", got, step.want)
		}
	}
	if m.Any() {
		t.Error("ranges are left")
	}
}
