//go:build cgo

package engine

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// connections lists the connected sockets of this process.
func connections(t *testing.T) map[int]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		switch name, _ := unix.Getpeername(fd); name.(type) {
		case *unix.SockaddrInet4, *unix.SockaddrInet6:
			found[fd] = true
		}
	}
	return found
}

// A conversation is a channel to PE 1 whose messages go by the service lane. A word there counts them.
type conversation struct {
	*testing.T
	nodes [2]*node
	c     *Channel
	sent  uint64
}

const countedWord = 1024

// converse sends until something has gone by the service lane, and returns the sockets of its connection.
func converse(ctx context.Context, t *testing.T, silence time.Duration) (talk *conversation, sockets []int) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	talk = &conversation{T: t}
	for pe := range talk.nodes {
		talk.nodes[pe] = newNode(t, pe, false, silence)
	}
	var err error
	if talk.c, err = talk.nodes[0].Channel(false, func(pe int) []byte { return talk.nodes[pe].Address() }); err != nil {
		t.Fatal(err)
	}
	talk.send()
	if err := talk.c.Quiet(ctx, 1); err != nil { // from now on the lane is open
		t.Fatal(err)
	}
	before := connections(t)
	for talk.nodes[0].serviceLaneSent() == 0 {
		talk.send()
		talk.arrives(ctx)
	}
	for fd := range connections(t) {
		if !before[fd] {
			sockets = append(sockets, fd)
		}
	}
	return talk, sockets
}

func (talk *conversation) send() {
	talk.sent++
	talk.c.PutSignal(1, 4096, make([]byte, 8), countedWord, wordAdd, 1)
}

// arrives waits until all messages have been applied, and checks that none has been twice.
func (talk *conversation) arrives(ctx context.Context) {
	talk.Helper()
	if err := talk.nodes[1].await(ctx, countedWord, talk.sent); err != nil {
		talk.Fatalf("message %d: %v", talk.sent, err)
	}
	if n := word(talk.nodes[1].heap, countedWord); n != talk.sent {
		talk.Errorf("%d messages have been applied %d times", talk.sent, n)
	}
}

// TestCutServiceLane: what went by a service lane whose connection is cut arrives all the same, by the lane, and once.
func TestCutServiceLane(t *testing.T) {
	for end := range 2 {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		talk, sockets := converse(ctx, t, 0)
		if len(sockets) != 2 {
			t.Fatalf("the service lane has the sockets %v", sockets)
		}
		if err := unix.Shutdown(sockets[end], unix.SHUT_RDWR); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			talk.send()
		}
		talk.arrives(ctx)
		if err := talk.c.Quiet(ctx, -1); err != nil {
			t.Errorf("quiet: %v", err)
		}
	}
}

// drop makes the kernel drop whatever comes for a socket, and returns a function that ends it: what was dropped comes
// again then.
func drop(t *testing.T, fd int) (end func()) {
	t.Helper()
	program := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // keep no byte
	filter := unix.SockFprog{Len: 1, Filter: &program}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &filter); err != nil {
		t.Fatalf("attaching a filter: %v", err)
	}
	return func() {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); err != nil {
			t.Errorf("detaching the filter: %v", err)
		}
	}
}

// TestOverdueServiceLane: what does not come by the service lane, because its connection hangs, arrives by the lane. It
// is applied once, also when it comes by the service lane in the end.
func TestOverdueServiceLane(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	talk, sockets := converse(ctx, t, 0)
	if err := talk.c.Quiet(ctx, -1); err != nil {
		t.Fatal(err)
	}
	var again []func()
	for _, fd := range sockets {
		again = append(again, drop(t, fd))
	}
	before := talk.nodes[0].serviceLaneSent()
	for talk.nodes[0].serviceLaneSent() == before && ctx.Err() == nil { // it may be busy
		talk.send()
		time.Sleep(time.Millisecond)
	}
	for range 10 {
		talk.send()
		time.Sleep(time.Millisecond)
	}
	talk.arrives(ctx)
	if err := talk.c.Quiet(ctx, -1); err != nil {
		t.Errorf("quiet: %v", err)
	}
	if sent := talk.nodes[0].serviceLaneSent(); sent == before {
		t.Error("nothing went by the service lane")
	}
	for _, end := range again {
		end()
	}
	for range 100 {
		talk.send()
		talk.arrives(ctx)
	}
}
