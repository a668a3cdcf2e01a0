//go:build cgo

package engine

import (
	"context"
	"os"
	"strconv"
	"testing"

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

// A conversation is what PE 0 sends to PE 1, by the service lane where it can. A word of PE 1 counts the messages.
type conversation struct {
	*testing.T
	nodes [2]*node
	c     *Channel
	sent  uint64
}

const countedWord = 1024

// converse sends until something has gone by the service lane, and returns the sockets of its connection.
func converse(ctx context.Context, t *testing.T) (talk *conversation, sockets []int) {
	t.Helper()
	nodes, channels := both(t)
	talk = &conversation{T: t, nodes: nodes, c: channels[0]}
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

// TestCutServiceLane: when the connection of the service lane is cut, what went by it arrives by the lane, once.
func TestCutServiceLane(t *testing.T) {
	for end := range 2 {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		talk, sockets := converse(ctx, t)
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
	talk, sockets := converse(ctx, t)
	if err := talk.c.Quiet(ctx, -1); err != nil {
		t.Fatal(err)
	}
	var again []func()
	for _, fd := range sockets {
		again = append(again, drop(t, fd))
	}
	before := talk.nodes[0].serviceLaneSent()
	eventually(t, "something goes by the service lane, which may be busy", func() bool {
		talk.send()
		return talk.nodes[0].serviceLaneSent() > before
	})
	for range 10 {
		talk.send()
	}
	talk.arrives(ctx)
	if err := talk.c.Quiet(ctx, -1); err != nil {
		t.Errorf("quiet: %v", err)
	}
	for _, end := range again {
		end()
	}
	for range 100 {
		talk.send()
		talk.arrives(ctx)
	}
}
