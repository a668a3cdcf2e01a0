//go:build cgo

package engine

import (
	"context"
	"testing"
	"unsafe"
)

// movingContext makes the goroutine that looks at it outgrow its stack, which Go then moves.
type movingContext struct {
	context.Context
	looks int
	first func()
}

func (c *movingContext) Err() error {
	if c.looks++; c.looks == 1 {
		deep(64)
		c.first()
	}
	return c.Context.Err()
}

//go:noinline
func deep(n int) (sum byte) {
	var room [4096]byte
	for i := range room {
		room[i] = byte(n + i)
	}
	if n > 0 {
		sum = deep(n - 1)
	}
	return sum + room[n]
}

// unseen is p without what escape analysis would follow, as the runtime passes destinations of blocking
// gets.
func unseen(p []byte) []byte {
	x := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&x)), len(p))
}

// TestGetIntoStack: the destination of a get may be a local variable, and the stack may move while the
// get waits.
func TestGetIntoStack(t *testing.T) {
	for _, get := range []struct {
		name string
		run  func(ctx context.Context, c *Channel, dst []byte) error
		want func(i int) byte
	}{
		{"get", func(ctx context.Context, c *Channel, dst []byte) error { return c.Get(ctx, 1, dst, 4096) },
			func(i int) byte { return byte(i*7 + 1) }},
		{"get blocks", func(ctx context.Context, c *Channel, dst []byte) error {
			return c.GetStrided(ctx, 1, dst, 4096, Strided{BlockBytes: 2, Count: 250, LocalStride: 4, RemoteStride: 2})
		}, func(i int) byte {
			if i%4 > 1 {
				return 0xee // between blocks
			}
			return byte((i/4*2+i%4)*7 + 1)
		}},
		{"get few small blocks", func(ctx context.Context, c *Channel, dst []byte) error {
			return c.GetStrided(ctx, 1, dst[:28], 4096, Strided{BlockBytes: 1, Count: 10, LocalStride: 3, RemoteStride: 1})
		}, func(i int) byte {
			if i%3 != 0 || i >= 30 {
				return 0xee
			}
			return byte(i/3*7 + 1)
		}},
		{"get little", func(ctx context.Context, c *Channel, dst []byte) error { return c.Get(ctx, 1, dst[:40], 4096) },
			func(i int) byte {
				if i >= 40 {
					return 0xee
				}
				return byte(i*7 + 1)
			}},
	} {
		t.Run(get.name, func(t *testing.T) {
			_, b, c := pair(t, true, 0)
			for i := range b.heap[4096:8192] {
				b.heap[4096+i] = byte(i*7 + 1)
			}
			done := make(chan [1000]byte)
			go func() {
				var dst [1000]byte
				for i := range dst {
					dst[i] = 0xee
				}
				ctx := &movingContext{Context: t.Context(), first: func() {
					if err := b.start(); err != nil {
						t.Error(err)
					}
				}}
				if err := get.run(ctx, c, unseen(dst[:])); err != nil {
					t.Error(err)
				}
				done <- dst
			}()
			for i, v := range <-done {
				if want := get.want(i); v != want {
					t.Fatalf("byte %d is %#x, want %#x", i, v, want)
				}
			}
		})
	}
}
