//go:build cgo

package engine

// Numbers of 32 bits wrap: those of a lane's messages after some hours of small operations. These tests start them
// shortly before 2^31, where a comparison that ignores the wrap changes sign, and before 2^32.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// turns are numbers to start at. Soon after each start, every counter crosses one of the two borders, at
// different steps of a test.
var turns = []uint32{1<<31 - 40, 1<<31 - 1, 1 << 31, ^uint32(0) - 40, ^uint32(0) - 1, ^uint32(0)}

// turning runs a test for each of turns, in short mode for one before either border. Engines of the test start
// their numbers there.
func turning(t *testing.T, test func(t *testing.T)) {
	before := firstNumber
	t.Cleanup(func() { firstNumber = before })
	for i, first := range turns {
		if testing.Short() && i%3 != 1 {
			continue
		}
		firstNumber = first
		t.Run(fmt.Sprintf("%#x", first), test)
	}
}

// The tests of the order of messages, with numbers that wrap.
func TestOrderWhereNumbersWrap(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"held messages":    TestMessagesOutOfOrderAreHeld,
		"proofs":           TestWithoutProof,
		"closed lanes":     TestClosedLanesStayClosed,
		"express":          TestConversationsUseServiceLane,
		"behind express":   TestNothingIsLostBehindServiceLane,
		"lent sources":     TestZcopySource,
		"many handle":      TestManyHandles,
		"cancelled waits":  TestCancelledWaits,
		"gathered put":     TestPutsAreGathered,
		"gets into stacks": TestGetIntoStack,
	} {
		t.Run(name, func(t *testing.T) { turning(t, test) })
	}
}

const (
	wrapQueue = 1 << 19 // where the queue of notes is in the heap
	wrapData  = 1 << 16
)

// wrapping returns two engines with a ring for notes, and a channel from the first to the second.
func wrapping(t *testing.T, change func(*Config)) (nodes [2]*node, c *Channel) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	for pe := range nodes {
		nodes[pe] = newNode(t, pe, false, 0, func(c *Config) { c.NoteQueue = wrapQueue }, change)
	}
	c, err := nodes[0].Channel(false, func(pe int) []byte { return nodes[pe].Address() })
	if err != nil {
		t.Fatal(err)
	}
	return nodes, c
}

// TestOperationsWhereNumbersWrap issues a few of every kind of operation, each of which takes messages or
// slots: the first of them has the number at which they wrap, or one of the next.
func TestOperationsWhereNumbersWrap(t *testing.T) {
	for _, way := range []struct {
		name   string
		change func(*Config)
	}{
		{"messages", func(*Config) {}},
		{"UCX's own", func(c *Config) { c.RMA = Native }},
		{"UCX's own atomics", func(c *Config) { c.RMA, c.NICAtomics = Native, true }},
	} {
		t.Run(way.name, func(t *testing.T) {
			turning(t, func(t *testing.T) {
				ctx, cancel := hang.Context(t.Context())
				defer cancel()
				nodes, c := wrapping(t, way.change)
				for i := range uint64(50) {
					if err := everything(ctx, nodes[1], c, i); err != nil {
						t.Fatalf("round %d: %v", i, err)
					}
				}
				if n := nodes[1].rejected() + nodes[1].Refused(); n != 0 {
					t.Errorf("%d records or messages were rejected", n)
				}
			})
		})
	}
}

// everything puts, gets and updates at node n, in an order that depends on i, and checks the results.
func everything(ctx context.Context, n *node, c *Channel, i uint64) error {
	small, large := binary.NativeEndian.AppendUint64(nil, i+1), bytes.Repeat([]byte{byte(i + 1)}, 200_000)
	get := func(off uint64, want []byte) error {
		got := make([]byte, len(want))
		if err := c.Get(ctx, 1, got, off); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("a get of %d bytes from %d brings others than have been put", len(want), off)
		}
		return nil
	}
	fetch := func() error {
		old, err := c.Fetch(ctx, 1, 4, 512, 8, 1, 0) // add
		if err == nil && old != i {
			err = fmt.Errorf("the word is %d after %d adds", old, i)
		}
		return err
	}
	steps := []func() error{
		func() error { c.Put(1, 1024, small); return c.Quiet(ctx, 1) },
		func() error { c.Put(1, 1024, small); return get(1024, small) },
		func() error { c.Put(1, wrapData, large); return get(wrapData, large) },
		func() error { handle := c.PutZcopy(1, wrapData, large); return c.AwaitReleased(ctx, 1, handle) },
		func() error { c.Put(1, 2048, small); c.Fence(1); c.Put(1, 2048, small); return get(2048, small) },
		func() error { c.PutSignal(1, 4096, small, 1032, wordSet, i+1); return n.await(ctx, 1032, i+1) },
		func() error { return fetchLater(ctx, c, i) },
		func() error { c.Post(1, 4, 536, 8, 1); return c.Quiet(ctx, -1) },
		fetch,
		func() error { return noteOne(ctx, n, c, uint32(i), small) },
	}
	for k := range steps {
		if err := steps[(k+int(i))%len(steps)](); err != nil {
			return err
		}
	}
	return c.Quiet(ctx, -1)
}

// fetchLater takes old values of a word that has been counted up to 20*i in this way, more than one at a time.
func fetchLater(ctx context.Context, c *Channel, i uint64) error {
	const each = 20
	var old [each][8]byte
	for k := range old {
		c.FetchNB(1, 4, 520, 8, 1, 0, old[k][:])
	}
	if err := c.Quiet(ctx, 1); err != nil {
		return err
	}
	for k := range old {
		if v := binary.NativeEndian.Uint64(old[k][:]); v != each*i+uint64(k) {
			return fmt.Errorf("the word is %d after %d adds", v, each*i+uint64(k))
		}
	}
	return nil
}

// noteOne leaves a note with a put, and takes it. Note number i is the i-th of the queue.
func noteOne(ctx context.Context, n *node, c *Channel, i uint32, src []byte) error {
	if err := leave(ctx, n, c, i, src); err != nil {
		return err
	}
	return take(ctx, n, uint64(i), i)
}

func leave(ctx context.Context, n *node, c *Channel, tag uint32, src []byte) error {
	for !c.PutNotify(1, 8192, src, tag) {
		n.Refill()
		if ctx.Err() != nil {
			return fmt.Errorf("there is no room for note %d", tag)
		}
	}
	return nil
}

// take takes the note with the given ticket out of the queue, as pgas/transport/shm does, and compares its tag.
func take(ctx context.Context, n *node, ticket uint64, tag uint32) error {
	entry := wrapQueue + 4096 + ticket%512*64
	if err := n.await(ctx, entry, ticket+1); err != nil {
		return err
	}
	if got := uint32(word(n.heap, entry+8) >> 32); got != tag {
		return fmt.Errorf("note %d has tag %d, want %d", ticket, got, tag)
	}
	atomic.StoreUint64(wordAt(n.heap, wrapQueue+128), 2*(ticket+1)) // taken
	n.Refill()
	return nil
}

// TestNotesWhereNumbersWrap: of many more notes than the queue has room for, none is lost and none comes out of order.
func TestNotesWhereNumbersWrap(t *testing.T) {
	const notes = 6000
	turning(t, func(t *testing.T) {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		nodes, c := wrapping(t, func(*Config) {})
		left := make(chan error, 1)
		go func() {
			for i := range uint32(notes) {
				if err := leave(ctx, nodes[0], c, i, nil); err != nil {
					left <- err
					return
				}
			}
			left <- c.Quiet(ctx, 1)
		}()
		for i := range uint32(notes) {
			if err := take(ctx, nodes[1], uint64(i), i); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-left; err != nil {
			t.Error(err)
		}
	})
}

// TestByeWhereNumbersWrap: when a channel closes, the target forgets its lane, whatever number its last
// message had, even 0.
func TestByeWhereNumbersWrap(t *testing.T) {
	turning(t, func(t *testing.T) {
		nodes, c := wrapping(t, func(*Config) {})
		c.Put(1, 1024, []byte("data"))
		if err := c.Quiet(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		served := nodes[1].Served()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the good-bye arrives", func() bool { return nodes[1].Served() == served+1 })
	})
}

// TestLanesRunOut: the numbers of lanes do not wrap, since a message that opened one could then open another. After
// the last number, operations to the PE are lost, and the error says why.
func TestLanesRunOut(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	var nodes [2]*node
	for pe := range nodes {
		nodes[pe] = newNode(t, pe, false, 0)
	}
	const left = 2
	nodes[0].spendLanes(1, ^uint32(0)-left)
	for i := range left + 2 {
		c, err := nodes[0].Channel(false, func(pe int) []byte { return nodes[pe].Address() })
		if err != nil {
			t.Fatal(err)
		}
		c.Put(1, 1024, []byte("data"))
		var lost *LostError
		switch err := c.Quiet(t.Context(), 1); {
		case i < left && err != nil:
			t.Fatalf("lane %d of the last %d: %v", i, left, err)
		case i >= left && (!errors.As(err, &lost) || lost.Reason != Spent || lost.PE != 1):
			t.Fatalf("after the last lane: %v", err)
		}
		if err := c.Close(); err != nil && i < left {
			t.Fatal(err)
		}
	}
}

// TestAnswersOfAnotherLane: an answer is for a slot of its lane. One of another PE that comes when the slot's
// token has come round completes nothing.
func TestAnswersOfAnotherLane(t *testing.T) {
	_, _, c := pair(t, true, 0) // PE 1 is mute
	c.Put(0, 4096, []byte("data"))
	if err := c.Quiet(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	old := make([]byte, 8)
	c.FetchNB(1, wordSet, 64, 8, 1, 0, old)
	token := uint32(c.pendingFetches[0].slot.token)
	from := func(pe uint32) []byte {
		m := answer(pe, uint64(c.lanes[pe].tags[1]), token, 9)
		binary.NativeEndian.PutUint32(m, firstNumber) // acknowledges nothing
		return m
	}
	answered := c.deliver(nil)
	if n := c.deliver(from(0)); n != answered {
		t.Fatalf("an answer of PE 0 completed what PE 1 is asked for")
	}
	if n := c.deliver(from(1)); n != answered+1 {
		t.Fatalf("an answer of PE 1 completed %d", n-answered)
	}
}
