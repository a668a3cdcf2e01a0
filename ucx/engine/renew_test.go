//go:build cgo

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// several returns the engines of a job of n PEs that reach each other by TCP, of which those of mute do not serve, and
// a channel of PE 0 that keeps two connections.
func several(t *testing.T, n int, silence time.Duration, mute ...int) ([]*node, *Channel) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	var nodes []*node
	isMute := map[int]bool{}
	for _, pe := range mute {
		isMute[pe] = true
	}
	for pe := range n {
		nodes = append(nodes, newNode(t, pe, isMute[pe], silence, func(c *Config) { c.NPEs, c.Connections, c.NoteQueue = n, 2, wrapQueue }))
	}
	c, err := nodes[0].Channel(false, func(pe int) []byte { return nodes[pe].Address() })
	if err != nil {
		t.Fatal(err)
	}
	return nodes, c
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestConnectionsAreBounded: a channel that talks to more PEs than it may keep connections to loses nothing, opens its
// connections again, and takes no more file descriptors however often it does.
func TestConnectionsAreBounded(t *testing.T) {
	const npes, rounds = 5, 200
	nodes, c := several(t, npes, 0)
	r := rand.New(rand.NewPCG(1, 2))
	var sums [npes]uint64
	large := make([]byte, 100<<10)
	var most int
	for i := range rounds {
		pe := 1 + r.IntN(npes-1)
		v := uint64(i + 1)
		c.Put(pe, 4096, binary.NativeEndian.AppendUint64(nil, v))
		var nb [8]byte
		c.FetchNB(pe, wordAdd, 64, 8, 0, 0, nb[:])
		large[0] = byte(i)
		handle := c.PutZcopy(pe, 8192, large)
		old, err := c.Fetch(t.Context(), pe, wordAdd, 64, 8, v, 0)
		if err != nil || old != sums[pe] {
			t.Fatalf("round %d: the sum of PE %d is %d (%v), want %d", i, pe, old, err, sums[pe])
		}
		other := 1 + r.IntN(npes-1)
		c.Post(other, wordAdd, 72, 8, 1)
		if err := c.AwaitReleased(t.Context(), pe, handle); err != nil || !c.Released(pe, handle) {
			t.Fatalf("round %d: handle %d to PE %d is not released: %v", i, handle, pe, err)
		}
		if c.c.connected > 2 {
			t.Fatalf("round %d: there are %d connections", i, c.c.connected)
		}
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		if got := binary.NativeEndian.Uint64(nb[:]); got != sums[pe] {
			t.Fatalf("round %d: the old value from PE %d is %d, want %d", i, pe, got, sums[pe])
		}
		sums[pe] += v
		if word(nodes[pe].heap, 4096) != v || nodes[pe].heap[8192] != byte(i) {
			t.Fatalf("round %d: PE %d has not got its puts", i, pe)
		}
		if i == rounds/2 {
			most = openFiles(t)
		}
	}
	if c.c.renewed < rounds/8 {
		t.Errorf("the connections were closed %d times only", c.c.renewed)
	}
	var posts uint64
	for _, n := range nodes[1:] {
		posts += word(n.heap, 72)
		if n.rejected()+n.Refused() != 0 {
			t.Error("a target did not understand what it got")
		}
	}
	if posts != rounds {
		t.Errorf("%d of %d updates have arrived", posts, rounds)
	}
	const slack = 4 * npes // connections that the targets have not closed yet
	if n := openFiles(t); n > most+slack {
		t.Errorf("%d files were open after half of the rounds, %d after all", most, n)
	}
	eventually(t, "the targets forget closed lanes", func() bool {
		lanes := 0
		for _, n := range nodes {
			lanes += n.Inbound()
		}
		return lanes <= 2
	})
}

// TestBusyConnectionsStay: while a target does not answer, connections beyond the bound are made, and nothing is lost;
// once it answers, the bound holds again.
func TestBusyConnectionsStay(t *testing.T) {
	const npes, mute = 5, 1
	nodes, c := several(t, npes, 0, mute)
	value := binary.NativeEndian.AppendUint64(nil, 7)
	for pe := 1; pe < npes; pe++ {
		c.Put(pe, 4096, value)
		if pe != mute {
			if err := c.Quiet(t.Context(), pe); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.c.connected != npes-1 || c.c.renewed != 0 {
		t.Errorf("there are %d connections, closed %d times, although PE %d owes an answer", c.c.connected, c.c.renewed, mute)
	}
	if err := nodes[mute].start(); err != nil {
		t.Fatal(err)
	}
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	c.c.renew_after_ns = 0 // as if some time had passed
	c.Put(0, 4096, value)
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if c.c.connected != 1 || c.c.renewed != 1 {
		t.Errorf("there are %d connections, closed %d times, although all PEs have answered", c.c.connected, c.c.renewed)
	}
	for pe, n := range nodes {
		if word(n.heap, 4096) != 7 {
			t.Errorf("PE %d has not got its put", pe)
		}
	}
}

// TestClosedConnectionsReportLosses: a loss is reported although the connection on which it happened has been closed
// for others since.
func TestClosedConnectionsReportLosses(t *testing.T) {
	const npes, victim = 5, 1
	nodes, c := several(t, npes, 0)
	value := binary.NativeEndian.AppendUint64(nil, 7)
	c.Put(victim, 4096, value)
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	nodes[victim].Engine.Close()
	eventually(t, "the connection ends", func() bool {
		c.Put(victim, 4096, value)
		c.lock()
		defer c.unlock()
		return c.lanes[victim].status != 0 && c.lanes[victim].lost != 0
	})
	for pe := 2; pe < npes; pe++ {
		c.Put(pe, 4096, value)
		if err := c.Quiet(t.Context(), pe); err != nil {
			t.Fatal(err)
		}
	}
	if c.c.renewed == 0 {
		t.Error("no connection has been closed: the test has not tested anything")
	}
	var lost *LostError
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.PE != victim {
		t.Errorf("Quiet returns %v, want the loss of PE %d", err, victim)
	}
	if err := c.Quiet(t.Context(), victim+1); err != nil {
		t.Errorf("the loss is reported for another PE: %v", err)
	}
	c.Put(victim, 4096, value)
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.PE != victim {
		t.Errorf("Quiet after another put returns %v, want the loss of PE %d", err, victim)
	}
}

// TestClosedConnectionsBoundNotes: an initiator whose notes find no room at their target has no more of them there
// because it has closed the connection meanwhile.
func TestClosedConnectionsBoundNotes(t *testing.T) {
	const npes, full = 5, 1
	nodes, c := several(t, npes, 0)
	fill := func() (notes int) {
		for refused := 0; refused < 20; time.Sleep(time.Millisecond) { // credits come late
			for refused++; c.PutNotify(full, 0, nil, 7); refused = 0 {
				notes++
			}
		}
		return notes
	}
	if n := fill(); n < notesMax {
		t.Fatalf("%d notes fill the queue", n)
	}
	value := binary.NativeEndian.AppendUint64(nil, 7)
	for range 5 {
		for pe := 2; pe < npes; pe++ {
			c.Put(pe, 8192, value)
		}
		if n := fill(); n > 0 {
			t.Fatalf("there is room for %d notes more", n)
		}
	}
	if c.c.renewed != 0 {
		t.Error("connections were closed although notes had not found room")
	}
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	for pe := 2; pe < npes; pe++ {
		if word(nodes[pe].heap, 8192) != 7 {
			t.Errorf("PE %d has not got its put", pe)
		}
	}
}

// TestClosedConnectionsTakeNoAnswer: a lane whose connection is closed has no tag that an answer could hold.
func TestClosedConnectionsTakeNoAnswer(t *testing.T) {
	_, c := several(t, 5, 0)
	value := binary.NativeEndian.AppendUint64(nil, 7)
	for pe := 1; pe < 4; pe++ {
		c.Put(pe, 4096, value)
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
	}
	if c.c.renewed != 1 || c.lanes[1] != nil {
		t.Fatal("the connection to PE 1 has not been closed")
	}
	answer := make([]byte, headBytes) // with tag 0
	binary.NativeEndian.PutUint32(answer[8:], 1)
	if c.deliver(answer); c.engine.Refused() != 1 {
		t.Error("a forged answer is taken for one of PE 1")
	}
}

// TestReopeningWithoutAddress: a connection that has been closed for others, and whose PE's address cannot be had any
// more, is lost, as a first one would be.
func TestReopeningWithoutAddress(t *testing.T) {
	nodes, c := several(t, 4, 0)
	gone := false
	c.connect = func(pe int) []byte {
		if gone && pe == 1 {
			return nil
		}
		return nodes[pe].Address()
	}
	value := binary.NativeEndian.AppendUint64(nil, 7)
	for pe := 1; pe < 4; pe++ {
		c.Put(pe, 4096, value)
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
	}
	if c.c.renewed != 1 {
		t.Fatal("the connection to PE 1 has not been closed")
	}
	gone = true
	c.Put(1, 4096, value)
	var lost *LostError
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.PE != 1 {
		t.Errorf("Quiet returns %v, want the loss of PE 1", err)
	}
}

// TestConnectionsWithFewPorts: where closed connections have taken the ports of the host, which they keep for a minute,
// a channel goes on with the connections that it has. UCX would look for a port of a new worker's until there is one.
func TestConnectionsWithFewPorts(t *testing.T) {
	const within, inside = "PGAS_TEST_FEW_PORTS", "ip link set lo up && echo 40000 40127 >/proc/sys/net/ipv4/ip_local_port_range && exec \"$@\""
	if os.Getenv(within) == "" {
		ctx, cancel := hang.Within(t.Context(), time.Minute)
		defer cancel()
		if err := netns.Usable(); err != nil {
			t.Skip(err)
		}
		cmd := exec.CommandContext(ctx, "unshare", "--net", "sh", "-c", inside, "sh", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), within+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", err, context.Cause(ctx), out)
		}
		return
	}
	const npes, rounds = 5, 400
	nodes, c := several(t, npes, 0)
	refused := 0
	for i := range rounds {
		pe := 1 + i%(npes-1)
		value := binary.NativeEndian.AppendUint64(nil, uint64(i))
		before := c.c.renewed
		c.Put(pe, 4096, value)
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		if word(nodes[pe].heap, 4096) != uint64(i) {
			t.Fatalf("PE %d has not got its put", pe)
		}
		if c.c.connected > 2 && c.c.renewed == before {
			refused++
		}
		c.c.renew_after_ns = 0 // as if some time had passed
	}
	t.Logf("the connections were closed %d times", c.c.renewed)
	if c.c.renewed == 0 || refused == 0 {
		t.Errorf("the connections were closed %d times, and kept for want of ports %d times: the test has not tested it", c.c.renewed, refused)
	}
}
