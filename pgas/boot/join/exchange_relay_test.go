package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// The job of these tests has 7 hosts of 3 PEs. Hosts 1 and 2 call host 0; 3 and 4 call 1; 5 and 6 call 2.
const (
	treeHosts = 7
	treePEs   = 3 // on each
)

// growTree starts the servers of all hosts, and returns them and their addresses.
func growTree(t *testing.T, secret []byte) (servers []*Server, addrs []string) {
	for host, behind := range []int{treeHosts, 3, 3, 1, 1, 1, 1} {
		name := fmt.Sprintf("@%s-%s-%d", testJob, t.Name(), host)
		if host%2 == 0 {
			name = "127.0.0.1:0"
		}
		network := "tcp"
		if name[0] == '@' {
			network = "unix"
		}
		ln, err := net.Listen(network, name)
		if err != nil {
			t.Fatal(err)
		}
		c := ServerConfig{
			ID: testJob, Secret: secret, NPEs: treeHosts * treePEs, FirstPE: host * treePEs,
			Callers: treePEs, PEs: behind * treePEs,
		}
		if host > 0 {
			c.Parent = addrs[(host-1)/2 : (host-1)/2+1]
		}
		if host < 3 {
			c.Callers += 2
		}
		s := Serve([]net.Listener{ln}, c, t.Logf)
		t.Cleanup(s.Close)
		servers, addrs = append(servers, s), append(addrs, ln.Addr().String())
	}
	return servers, addrs
}

// TestExchangeTree: each PE reads what all PEs have published before a fence, in several rounds, and the root has few
// callers.
func TestExchangeTree(t *testing.T) {
	const rounds = 5
	secret := newNonce()
	servers, addrs := growTree(t, secret)
	ctx := bounded(t)
	var group sync.WaitGroup
	var entered atomic.Int64
	for pe := range treeHosts * treePEs {
		e := join(t, pe, secret, addrs[pe/treePEs])
		group.Go(func() {
			if err := everyRound(ctx, e, pe, rounds, &entered); err != nil {
				t.Errorf("PE %d: %v", pe, err)
			}
		})
	}
	group.Wait()
	for host, s := range servers {
		s.mu.Lock()
		if len(s.registered) != s.Callers {
			t.Errorf("host %d has %d callers, not %d", host, len(s.registered), s.Callers)
		}
		s.mu.Unlock()
	}
}

// everyRound publishes a value in each round, and checks after a fence that all PEs have entered it, and their values.
func everyRound(ctx context.Context, e boot.Exchange, pe, rounds int, entered *atomic.Int64) error {
	for round := range rounds {
		key := func(pe int) string { return fmt.Sprintf("round %d of PE %d", round, pe) }
		if err := e.Put(ctx, key(pe), fmt.Append(nil, round*pe)); err != nil {
			return err
		}
		entered.Add(1)
		if err := e.Fence(ctx); err != nil {
			return err
		}
		if n := int(entered.Load()); n < (round+1)*treeHosts*treePEs {
			return fmt.Errorf("fence %d is over, and only %d calls of fences have been made", round, n)
		}
		for other := range treeHosts * treePEs {
			v, err := e.Get(ctx, key(other))
			if err != nil || string(v) != fmt.Sprint(round*other) {
				return fmt.Errorf("got %q of PE %d, %w", v, other, err)
			}
		}
	}
	return nil
}

// TestExchangeTreeWaits: a Get that comes before the Put is answered, whichever hosts they are on.
func TestExchangeTreeWaits(t *testing.T) {
	secret := newNonce()
	_, addrs := growTree(t, secret)
	ctx := bounded(t)
	readers := []int{0, 1, 3, 9, 10, 15, 20}
	got := make(chan string, len(readers))
	for _, pe := range readers {
		e := join(t, pe, secret, addrs[pe/treePEs])
		go func() {
			v, err := e.Get(ctx, "late")
			got <- fmt.Sprint(string(v), err)
		}()
	}
	late := join(t, 12, secret, addrs[4])
	if err := late.Put(ctx, "late", []byte("value")); err != nil {
		t.Fatal(err)
	}
	for range readers {
		if s := <-got; s != "value<nil>" {
			t.Errorf("got %s", s)
		}
	}
}

// TestExchangeTreeErrors: a PE learns what its host's server hears from its parent.
func TestExchangeTreeErrors(t *testing.T) {
	secret := newNonce()
	servers, addrs := growTree(t, secret)
	ctx := bounded(t)
	a, b := join(t, 20, secret, addrs[6]), join(t, 9, secret, addrs[3])
	if err := a.Put(ctx, "k", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(ctx, "k", []byte("2")); err == nil || !strings.Contains(err.Error(), "published already with another value") {
		t.Errorf("another value: %v", err)
	}
	if err := b.Put(ctx, "k", []byte("1")); err != nil {
		t.Errorf("the same value: %v", err)
	}
	answers := make(chan error, 2)
	go func() { _, err := b.Get(ctx, "never"); answers <- err }()
	go func() { answers <- b.Fence(ctx) }()
	servers[0].Close()
	if _, err := b.Get(ctx, "other"); err == nil || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("a Get without a root: %v", err)
	}
	if err := <-answers; err == nil || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("a Get under way: %v", err)
	}
	if v, err := b.Get(ctx, "k"); string(v) != "1" || err != nil {
		t.Errorf("what has passed by: %q, %v", v, err)
	}
	servers[3].Close()
	if err := <-answers; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a fence under way: %v", err)
	}
}

// TestFencesOfMany: a server takes a fence for as many PEs as there are behind the caller, and no more.
func TestFencesOfMany(t *testing.T) {
	for _, pes := range []int{1, 2, 1 << 20} {
		if got, ok := decodeFence(encodeFence(pes)); got != pes || !ok {
			t.Errorf("%d PEs are decoded as %d, %v", pes, got, ok)
		}
	}
	for _, bad := range [][]byte{{1}, {0, 0, 0, 0}, {0, 0, 0, 0, 1}} {
		if got, ok := decodeFence(bad); ok {
			t.Errorf("% x is decoded as %d", bad, got)
		}
	}
	secret := newNonce()
	addr, _ := serve(t, 2, secret)
	e := join(t, 0, secret, addr).(*client)
	if _, err := e.call(bounded(t), message{kind: msgFence, value: encodeFence(3)}); err == nil || !strings.Contains(err.Error(), "more PEs than") {
		t.Errorf("a fence for three of two PEs: %v", err)
	}
}
