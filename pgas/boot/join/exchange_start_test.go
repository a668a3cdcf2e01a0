package join

// The start of an exchange when its server is slow to accept, cannot accept, or has no PE left to wait for.

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stalledListener returns connections only when a number of them wait, as for a server that was stopped meanwhile.
type stalledListener struct {
	net.Listener
	wait    int
	waiting []net.Conn
}

func (l *stalledListener) Accept() (net.Conn, error) {
	for len(l.waiting) < l.wait {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.waiting = append(l.waiting, conn)
	}
	l.wait = 0
	if len(l.waiting) == 0 {
		return l.Listener.Accept()
	}
	conn := l.waiting[0]
	l.waiting = l.waiting[1:]
	return conn, nil
}

// TestStalledServer checks that the server serves the connection that a PE keeps, if the PE has dialled every address
// of the server before the server answers.
func TestStalledServer(t *testing.T) {
	const npes, addresses = 8, 5
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	var addrs []string
	for i := range addresses {
		addrs = append(addrs, fmt.Sprintf("127.0.0.%d:%s", 1+i, port))
	}
	secret := newNonce()
	s := Serve([]net.Listener{&stalledListener{Listener: ln, wait: npes * addresses}}, whole(npes, secret), t.Logf)
	t.Cleanup(s.Close)
	ctx := bounded(t)
	var group sync.WaitGroup
	for pe := range npes {
		e := join(t, pe, secret, addrs...)
		group.Go(func() {
			if err := e.Put(ctx, fmt.Sprint(pe), []byte{byte(pe)}); err != nil {
				t.Errorf("PE %d: %v", pe, err)
			}
			if err := e.Fence(ctx); err != nil {
				t.Errorf("PE %d: %v", pe, err)
			}
		})
	}
	group.Wait()
}

// exhaustedListener fails as a listener does in a process without a free descriptor.
type exhaustedListener struct {
	net.Listener
	failures int
}

func (l *exhaustedListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestAcceptFails checks that the server goes on after an accept that fails.
func TestAcceptFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secret := newNonce()
	s := Serve([]net.Listener{&exhaustedListener{ln, 3}}, whole(1, secret), t.Logf)
	t.Cleanup(s.Close)
	if err := join(t, 0, secret, ln.Addr().String()).Put(bounded(t), "k", nil); err != nil {
		t.Error(err)
	}
}

// TestListensUntilAllHaveCalled checks that the server listens while a PE is missing, and no longer.
func TestListensUntilAllHaveCalled(t *testing.T) {
	secret := newNonce()
	addr, _ := serve(t, 2, secret)
	ctx := bounded(t)
	a := join(t, 0, secret, addr)
	if err := a.Put(ctx, "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("with a PE missing: %v", err)
	}
	conn.Close()
	b := join(t, 1, secret, addr)
	if v, err := b.Get(ctx, "a"); string(v) != "1" || err != nil {
		t.Fatalf("got %q, %v", v, err)
	}
	for ; ; time.Sleep(time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if ctx.Err() != nil {
			t.Fatal("all PEs have called, and the server still listens")
		}
		if err != nil {
			break
		}
		conn.Close()
	}
	if err := b.Put(ctx, "b", []byte("2")); err != nil {
		t.Error(err)
	}
	if v, err := a.Get(ctx, "b"); string(v) != "2" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
}
