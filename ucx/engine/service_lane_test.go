//go:build cgo

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// both is two engines that reach each other, and a channel of each.
func both(t testing.TB) (nodes [2]*node, channels [2]*Channel) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	for pe := range nodes {
		nodes[pe] = newNode(t, pe, false, 0)
	}
	for pe, n := range nodes {
		c, err := n.Channel(false, func(pe int) []byte { return nodes[pe].Address() })
		if err != nil {
			t.Fatal(err)
		}
		channels[pe] = c
	}
	return nodes, channels
}

const greaterOrEqual = 3

// await waits until the word at off has reached v.
func (n *node) await(ctx context.Context, off, v uint64) error {
	for !n.WaitWord(off, 8, greaterOrEqual, v, false, time.Millisecond) {
		if ctx.Err() != nil {
			return fmt.Errorf("the word at %d is %d, not %d", off, word(n.heap, off), v)
		}
	}
	return nil
}

// TestConversationsUseServiceLane: two PEs that signal each other in turn, and put, get and update words
// meanwhile. All of it takes effect in the order of issue, whichever way it goes.
func TestConversationsUseServiceLane(t *testing.T) {
	const rounds, signal, data, counter = 3000, 1024, 4096, 2048
	nodes, channels := both(t)
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	talk := func(me int) error {
		other, n, c := 1-me, nodes[me], channels[me]
		random := rand.New(rand.NewPCG(7, uint64(me)))
		adds := uint64(0)
		for i := uint64(1); i <= rounds; i++ {
			if random.IntN(2) == 0 {
				c.Put(other, data+8, binary.NativeEndian.AppendUint64(nil, i))
			}
			c.PutSignal(other, data, binary.NativeEndian.AppendUint64(nil, i), signal, wordSet, i)
			switch random.IntN(8) {
			case 0:
				got := make([]byte, 8)
				if err := c.Get(ctx, other, got, data); err != nil {
					return err
				}
				if v := binary.NativeEndian.Uint64(got); v != i {
					return fmt.Errorf("round %d: a get behind a put brings %d", i, v)
				}
			case 1:
				old, err := c.Fetch(ctx, other, uint8(4), counter, 8, 1, 0) // add
				if err != nil {
					return err
				}
				if old != adds {
					return fmt.Errorf("round %d: the word is %d after %d adds", i, old, adds)
				}
				adds++
			case 2:
				var old [8]byte
				c.FetchNB(other, uint8(4), counter, 8, 1, 0, old[:])
				if err := c.Quiet(ctx, -1); err != nil {
					return err
				}
				if v := binary.NativeEndian.Uint64(old[:]); v != adds {
					return fmt.Errorf("round %d: the word is %d after %d adds", i, v, adds)
				}
				adds++
			case 3:
				if err := c.Quiet(ctx, other); err != nil {
					return err
				}
			}
			if err := n.await(ctx, signal, i); err != nil {
				return err
			}
			if got := word(n.heap, data); got < i || got > i+1 {
				return fmt.Errorf("round %d: the signal is there, and its data is %d", i, got)
			}
		}
		return c.Quiet(ctx, -1)
	}
	result := make(chan error)
	for me := range nodes {
		go func() { result <- talk(me) }()
	}
	for range nodes {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
	for pe, n := range nodes {
		if n.serviceLaneSent() < rounds/4 {
			t.Errorf("PE %d: %d messages of %d rounds went by express", pe, n.serviceLaneSent(), rounds)
		}
		if n.rejected() != 0 {
			t.Errorf("PE %d rejected %d records", pe, n.rejected())
		}
	}
}

// TestNothingIsLostBehindServiceLane: the first message by the service lane has to wait for its connection, so what
// follows overtakes it. Its acknowledgement and its answers come all the same.
func TestNothingIsLostBehindServiceLane(t *testing.T) {
	for i, then := range []func(ctx context.Context, c *Channel) error{
		func(ctx context.Context, c *Channel) error { return c.Quiet(ctx, 1) },
		func(ctx context.Context, c *Channel) error { return c.Get(ctx, 1, make([]byte, 8), 4096) },
		func(ctx context.Context, c *Channel) error { return c.Get(ctx, 1, make([]byte, 100_000), 4096) },
		func(ctx context.Context, c *Channel) error { _, err := c.Fetch(ctx, 1, 4, 512, 8, 1, 0); return err },
		func(ctx context.Context, c *Channel) error {
			c.FetchNB(1, 4, 512, 8, 1, 0, make([]byte, 8))
			return c.Quiet(ctx, -1)
		},
		func(_ context.Context, c *Channel) error { return c.Close() },
	} {
		for range 5 {
			nodes, channels := both(t)
			ctx, cancel := hang.Context(t.Context())
			channels[0].PutSignal(1, 4096, make([]byte, 8), 1024, wordSet, 1)
			if err := then(ctx, channels[0]); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if err := nodes[1].await(ctx, 1024, 1); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			cancel()
		}
	}
}

// behindServiceLane returns the engines of three PEs, and a channel of PE 0 by whose service lane something has gone to
// PE 1 since that has stopped. PE 2 serves, and has got a signal too.
func behindServiceLane(ctx context.Context, t *testing.T) (nodes [3]*node, c *Channel) {
	t.Helper()
	const stopped, serves, signal = 1, 2, 1024
	t.Setenv("UCX_TLS", "tcp")
	for pe := range nodes {
		nodes[pe] = newNode(t, pe, false, 0, func(c *Config) { c.NPEs = len(nodes) })
	}
	c, err := nodes[0].Channel(false, func(pe int) []byte { return nodes[pe].Address() })
	if err != nil {
		t.Fatal(err)
	}
	send := func(pe int, v uint64) { c.PutSignal(pe, 4096, make([]byte, 8), signal, wordSet, v) }
	for _, pe := range []int{stopped, serves} {
		send(pe, 1)
		if err := c.Quiet(ctx, pe); err != nil { // from now on its lane is open
			t.Fatal(err)
		}
	}
	t.Cleanup(nodes[stopped].stopServing())
	for v := uint64(2); nodes[0].serviceLaneSent() == 0; v++ { // the service lane may be busy
		send(stopped, v)
		if ctx.Err() != nil {
			t.Fatalf("nothing goes by the service lane: %v", context.Cause(ctx))
		}
		time.Sleep(time.Millisecond)
	}
	return nodes, c
}

// TestCloseWithStoppedTarget: a channel that closes does not wait for a target that has stopped before it has applied
// what went by the service lane, and the other targets are told to forget their lanes.
func TestCloseWithStoppedTarget(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	nodes, c := behindServiceLane(ctx, t)
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Fatal(err)
		}
	case <-ctx.Done():
		t.Fatalf("the channel does not close: %v", context.Cause(ctx))
	}
	eventually(t, "the target that serves forgets its lane", func() bool { return nodes[2].Inbound() == 0 })
}

// TestRequestsBehindServiceLane: a request to a target that has stopped, which must not overtake what went by the
// service lane, ends with its context, and other goroutines can use the channel meanwhile.
func TestRequestsBehindServiceLane(t *testing.T) {
	for name, request := range map[string]func(ctx context.Context, c *Channel) error{
		"get":       func(ctx context.Context, c *Channel) error { return c.Get(ctx, 1, make([]byte, 8), 4096) },
		"large get": func(ctx context.Context, c *Channel) error { return c.Get(ctx, 1, make([]byte, 100_000), 4096) },
		"blocks": func(ctx context.Context, c *Channel) error {
			return c.GetStrided(ctx, 1, make([]byte, 64), 4096, Strided{BlockBytes: 8, Count: 2, LocalStride: 32, RemoteStride: 16})
		},
		"fetch": func(ctx context.Context, c *Channel) error {
			_, err := c.Fetch(ctx, 1, wordAdd, 512, 8, 1, 0)
			return err
		},
		"notified get": func(ctx context.Context, c *Channel) error {
			_, err := c.GetNotify(ctx, 1, make([]byte, 8), 4096, 1)
			return err
		},
		"notified fetch": func(ctx context.Context, c *Channel) error {
			_, _, err := c.FetchNotify(ctx, 1, wordAdd, 512, 8, 1, 0, 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			limit, end := hang.Context(t.Context())
			defer end()
			_, c := behindServiceLane(limit, t)
			ctx, cancel := context.WithCancelCause(limit)
			waited := make(chan error, 1)
			go func() { waited <- request(ctx, c) }()
			for range 100 {
				if err := c.Get(limit, 2, make([]byte, 8), 4096); err != nil {
					t.Fatal(err)
				}
			}
			over := errors.New("over")
			cancel(over)
			if err := <-waited; err != over {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
