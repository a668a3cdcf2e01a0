//go:build cgo

package engine

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
)

// TestZcopySource: a large put to a PE that takes nothing returns at once, and its source is in use until
// that PE takes it.
func TestZcopySource(t *testing.T) {
	_, b, c := pair(t, true, 0)
	src := bytes.Repeat([]byte("lent"), 100_000)
	want := bytes.Clone(src)
	var handle []uint64
	for range 3 {
		handle = append(handle, c.PutZcopy(1, 4096, src))
	}
	for i, handle := range handle {
		if handle != uint64(i)+1 || c.Released(1, handle) {
			t.Fatalf("handle %d has number %d; over: %v", i, handle, c.Released(1, handle))
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	for _, pe := range []int{1, -1} {
		if err := c.AwaitReleased(ctx, pe, handle[0]); !errors.Is(err, cause) {
			t.Fatalf("waiting for PE %d: %v", pe, err)
		}
	}
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	for _, handle := range handle {
		if err := c.AwaitReleased(t.Context(), 1, handle); err != nil || !c.Released(1, handle) {
			t.Fatalf("handle %d: %v", handle, err)
		}
	}
	clear(src) // it may be reused now, whatever has come of the puts
	if err := c.AwaitReleased(t.Context(), -1, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.heap[4096:4096+len(want)], want) {
		t.Fatal("what has come is not what was lent")
	}
	if c.pinned != 0 {
		t.Fatalf("%d sources are pinned after all", c.pinned)
	}
}

// TestManyHandles: more handles than there can be at a time wait for each other.
func TestManyHandles(t *testing.T) {
	_, b, c := pair(t, false, 0)
	want := make([]byte, 40_000)
	for i := range 500 {
		src := bytes.Repeat([]byte{byte(i)}, len(want))
		c.PutZcopy(1, 4096, src)
		copy(want, src)
	}
	small := []byte("small")
	if handle := c.PutZcopy(1, 4096, small); handle != 0 || !c.Released(1, handle) {
		t.Fatal("a small put has kept its source")
	}
	clear(small)
	copy(want, "small")
	if err := c.Quiet(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.heap[4096:][:len(want)], want) {
		t.Fatal("the last puts are not there")
	}
	if err := c.AwaitReleased(t.Context(), -1, 0); err != nil || c.pinned != 0 {
		t.Fatalf("%v; %d pinned", err, c.pinned)
	}
}

// TestClosedChannel: what is closed says so, with nothing left to look at.
func TestClosedChannel(t *testing.T) {
	for _, config := range []RMA{AM, Native} {
		_, _, c := pair(t, false, 0)
		c.native = config == Native
		c.Put(1, 4096, []byte("before"))
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Fatal(err)
		}
		c.Fence(-1)
		if err := c.Quiet(t.Context(), -1); !errors.Is(err, ErrClosed) {
			t.Fatalf("quiet: %v", err)
		}
		if err := c.AwaitReleased(t.Context(), -1, 0); !errors.Is(err, ErrClosed) {
			t.Fatalf("waiting for sources: %v", err)
		}
	}
}

// TestHandlesOfLostPE: a handle to a PE that never answers ends when that is given up.
func TestHandlesOfLostPE(t *testing.T) {
	_, _, c := pair(t, true, 100*time.Millisecond)
	handle := c.PutZcopy(1, 4096, make([]byte, 100_000))
	if err := c.AwaitReleased(t.Context(), 1, handle); err != nil {
		t.Fatal(err)
	}
	var lost *LostError
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.PE != 1 {
		t.Fatalf("quiet: %v", err)
	}
}
