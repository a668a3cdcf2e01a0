package racecheck

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/pgas/transport"
)

// watched is a pair. PE 0 puts from private memory, which its channel reads later.
type watched struct {
	*pair
	zero   transport.ZeroCopyPutter
	lines  []string
	looked int // buffers that were looked through since they might have been complete
}

func newWatched(t *testing.T) *watched {
	w := new(watched)
	w.pair = newPairOf(func(r Report) { t.Error(r.Text(func(int, uint64) string { return "a word" })) },
		func(line string) { w.lines = append(w.lines, line) })
	w.zero = w.puts()
	return w
}

// puts returns a channel of a new context of PE 0.
func (w *watched) puts() transport.ZeroCopyPutter {
	_, zero, _ := w.pes[0].NewContext().Over(idle{}, nil, nil)
	return zero
}

func (w *watched) put(zero transport.ZeroCopyPutter, bytes int) (handle uint64) {
	return zero.PutZcopy(1, uint64(64*bytes), make([]byte, bytes))
}

// completes runs f, which completes something.
func (w *watched) completes(f func()) {
	b := &w.pes[0].buffers
	n, had := len(b.list), b.complete
	if f(); b.complete <= had { // it begins again when all were looked through
		w.looked += n
	}
}

// TestCompletionsOneByOne: to learn of the completion of many operations, each by itself, takes a look at each a few
// times and not at all for each. Then no buffer is kept.
func TestCompletionsOneByOne(t *testing.T) {
	const n = 4000
	w := newWatched(t)
	var handles []uint64
	for range n {
		handles = append(handles, w.put(w.zero, 8))
	}
	for i, h := range handles {
		w.completes(func() { w.zero.Released(1, h) })
		if had := len(w.pes[0].buffers.list); had > fewBuffers+(n-i-1)*3/2 {
			t.Fatalf("%d buffers, of %d operations under way", had, n-i-1)
		}
	}
	if left := len(w.pes[0].buffers.list); left > 0 || w.looked > 8*n {
		t.Errorf("%d buffers are left, %d of %d were looked at", left, w.looked, n)
	}
}

// TestQuietsBesideMany: quiets of a context do not look at the many buffers of another one each time. And yet large
// ones are not kept for long, and all are gone when both are quiet.
func TestQuietsBesideMany(t *testing.T) {
	const many = 4000
	for bytes, quiets := range map[int]int{16: 2000, 1 << 20: 100} {
		w := newWatched(t)
		c := w.ctxs[0]
		mine := w.zero
		for range many {
			w.put(mine, 8)
		}
		_, other, _ := c.Over(idle{}, nil, nil)
		large := uint64(0)
		for range quiets {
			w.put(other, bytes)
			w.completes(func() { c.Quieted(t.Context(), -1, c.Issued()) })
			kept := uint64(0)
			for _, x := range w.pes[0].buffers.list {
				kept += uint64(len(x.mem))
			}
			large = max(large, kept)
		}
		if large > many*8+mostAdded+uint64(bytes) || bytes == 16 && w.looked > 8*(many+quiets) {
			t.Errorf("%d bytes are kept, and %d buffers were looked at", large, w.looked)
		}
		for _, c := range w.pes[0].contexts {
			if c != nil {
				c.Quieted(t.Context(), -1, c.Issued())
			}
		}
		if left := len(w.pes[0].buffers.list); left > 0 {
			t.Errorf("%d buffers are left", left)
		}
	}
}

// TestBuffersThatAreCompleteTakeNoRoom: with almost as many operations under way as there is room for, further ones as
// others complete find room.
func TestBuffersThatAreCompleteTakeNoRoom(t *testing.T) {
	w := newWatched(t)
	var handles []uint64
	for range mostBuffers {
		handles = append(handles, w.put(w.zero, 8))
	}
	for i := range mostBuffers {
		w.completes(func() { w.zero.Released(1, handles[i]) })
		w.put(w.zero, 8)
	}
	if len(w.lines) > 0 || w.looked > 8*mostBuffers {
		t.Errorf("%d buffers were looked at, told is %q", w.looked, w.lines)
	}
	w.put(w.zero, 8)
	if len(w.lines) != 1 || w.lines[0] != UnseenBuffers.Line() {
		t.Errorf("told of one more is %q", w.lines)
	}
}

// lent is a channel that reads sources at a quiet.
type lent struct {
	idle
	issued, read uint64
}

func (l *lent) PutZcopy(int, uint64, []byte) uint64 { l.issued++; return l.issued }

func (l *lent) Released(_ int, h uint64) bool { return h <= l.read }

func (l *lent) PutNotifyZcopy(int, uint64, []byte, transport.Stamp) (uint64, bool) { return 0, true }

func (l *lent) PutSignalZcopy(int, uint64, []byte, uint64, transport.Op, uint64) uint64 { return 0 }

func (l *lent) PutStridedZcopy(int, uint64, []byte, transport.Strided) uint64 { return 0 }

func (l *lent) AwaitReleased(context.Context, int, uint64) error { l.read = l.issued; return nil }

// TestHandlesAreBounded: a program that quiets, and asks for no handle of a source, has no more and more handles. It
// may still ask for one, and a source that has not been read is never said to be.
func TestHandlesAreBounded(t *testing.T) {
	w, l := newWatched(t), new(lent)
	_, over, _ := w.ctxs[0].Over(idle{}, l, nil)
	src, most := make([]byte, 8), 0
	for i := range uint64(20 * fewGiven) {
		h := over.PutZcopy(1, 64, src)
		if over.Released(1, h) {
			t.Fatalf("source %d, which has not been read, is released", i)
		}
		if i%(fewGiven/2) == 0 {
			l.read = l.issued // a quiet
			w.ctxs[0].Quieted(t.Context(), -1, w.ctxs[0].Issued())
			if i%fewGiven == 0 && !over.Released(1, h) {
				t.Fatalf("source %d, which has been read, is not released", i)
			}
		}
		most = max(most, len(over.(*zeroCopy).given))
	}
	if most > 2*fewGiven {
		t.Errorf("%d handles are kept", most)
	}
}
