package join

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

const testJob = "0123456789abcdef"

// whole returns the configuration of the only server of a job of npes PEs.
func whole(npes int, secret []byte) ServerConfig {
	return ServerConfig{ID: testJob, Secret: secret, NPEs: npes, Callers: npes, PEs: npes}
}

// serve starts a server for npes PEs and returns its address and what it has logged.
func serve(t *testing.T, npes int, secret []byte) (addr string, logged func() string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var log strings.Builder
	s := Serve([]net.Listener{ln}, whole(npes, secret), func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&log, format+"\n", args...)
	})
	t.Cleanup(s.Close)
	return ln.Addr().String(), func() string {
		mu.Lock()
		defer mu.Unlock()
		return log.String()
	}
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := hang.Context(context.Background())
	t.Cleanup(cancel)
	return ctx
}

func join(t *testing.T, pe int, secret []byte, addrs ...string) boot.Exchange {
	e := NewExchange(testJob, pe, secret, addrs)
	t.Cleanup(func() { e.Close() })
	return e
}

// TestExchange checks that each PE reads what all PEs have published before a fence, in several rounds.
func TestExchange(t *testing.T) {
	const npes, rounds = 7, 5
	secret := newNonce()
	addr, _ := serve(t, npes, secret)
	ctx := bounded(t)
	var group sync.WaitGroup
	for pe := range npes {
		e := join(t, pe, secret, "127.0.0.1:1", addr)
		group.Go(func() {
			for round := range rounds {
				if err := e.Put(ctx, fmt.Sprint(round, pe), bytes.Repeat([]byte{byte(pe)}, 100*round)); err != nil {
					t.Error(err)
				}
				if err := e.Fence(ctx); err != nil {
					t.Error(err)
				}
				for other := range npes {
					v, err := e.Get(ctx, fmt.Sprint(round, other))
					if err != nil || !bytes.Equal(v, bytes.Repeat([]byte{byte(other)}, 100*round)) {
						t.Errorf("PE %d round %d: got %q, %v of PE %d", pe, round, v, err, other)
					}
				}
			}
		})
	}
	group.Wait()
}

// TestGetWaits checks that a Get waits for the Put, delays no other call, and can be given up.
func TestGetWaits(t *testing.T) {
	secret := newNonce()
	addr, _ := serve(t, 2, secret)
	a, b := join(t, 0, secret, addr), join(t, 1, secret, addr)
	ctx := bounded(t)

	given, cancel := context.WithCancelCause(ctx)
	reason := errors.New("changed my mind")
	got := make(chan error)
	go func() { _, err := a.Get(given, "never"); got <- err }()
	cancel(reason)
	if err := <-got; !errors.Is(err, reason) {
		t.Errorf("a cancelled Get says %v", err)
	}

	value := make(chan []byte)
	go func() { v, _ := a.Get(ctx, "late"); value <- v }()
	if err := a.Put(ctx, "early", nil); err != nil {
		t.Errorf("a Put beside a waiting Get: %v", err)
	}
	if err := b.Put(ctx, "late", []byte("now")); err != nil {
		t.Error(err)
	}
	if v := <-value; string(v) != "now" {
		t.Errorf("got %q", v)
	}
}

// TestAnswersLongAfterTheirCall checks that an answer reaches no other call than its own, even if it arrives 2^32 calls
// after that was given up.
func TestAnswersLongAfterTheirCall(t *testing.T) {
	secret := newNonce()
	addr, _ := serve(t, 2, secret)
	a, b := join(t, 0, secret, addr).(*client), join(t, 1, secret, addr)
	ctx := bounded(t)
	ask := func(key string) *pending {
		p, err := a.ask(ctx, message{kind: msgGet, key: key})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a.forget(ask("late"))
	a.last += 1<<32 - 1
	p := ask("other")
	for _, key := range []string{"late", "other"} {
		if err := b.Put(ctx, key, []byte("of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := a.await(ctx, p); err != nil || string(m.value) != "of other" {
		t.Errorf("a Get brings %q, %v", m.value, err)
	}
}

// TestFenceAgain checks that a fence given up and called again counts its PE once.
func TestFenceAgain(t *testing.T) {
	secret := newNonce()
	addr, _ := serve(t, 2, secret)
	a, b := join(t, 0, secret, addr), join(t, 1, secret, addr)
	ctx := bounded(t)
	given, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := a.Fence(given); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fence of one of two says %v", err)
	}
	again := make(chan error)
	go func() { again <- a.Fence(ctx) }()
	if err := b.Fence(ctx); err != nil {
		t.Error(err)
	}
	if err := <-again; err != nil {
		t.Error(err)
	}
}

func TestExchangeErrors(t *testing.T) {
	secret := newNonce()
	addr, _ := serve(t, 1, secret)
	ctx := bounded(t)
	e := join(t, 0, secret, addr)
	if err := e.Put(ctx, "k", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := e.Put(ctx, "k", []byte("one")); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	if err := e.Put(ctx, "k", []byte("two")); err == nil || !strings.Contains(err.Error(), "a key is written once") {
		t.Errorf("another value: %v", err)
	}
	if err := e.Put(ctx, strings.Repeat("k", maxKey+1), nil); err == nil || !strings.Contains(err.Error(), "bytes, more than") {
		t.Errorf("a long key: %v", err)
	}
	if err := e.Put(ctx, "big", make([]byte, maxBody)); err == nil || !strings.Contains(err.Error(), "bytes, more than") {
		t.Errorf("a big value: %v", err)
	}
	if v, err := e.Get(ctx, "k"); string(v) != "one" || err != nil {
		t.Errorf("after all that: %q, %v", v, err)
	}
	e.Close()
	if err := e.Fence(ctx); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
}

// TestServerGone checks that the end of the server ends every call.
func TestServerGone(t *testing.T) {
	secret := newNonce()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve([]net.Listener{ln}, whole(2, secret), t.Logf)
	e := join(t, 0, secret, ln.Addr().String())
	ctx := bounded(t)
	if err := e.Put(ctx, "k", nil); err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() { got <- e.Fence(ctx) }()
	s.Close()
	if err := <-got; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the fence says %v", err)
	}
}

// TestSendAfterTheEnd: a call that finds the connection closed before the client's listener does says that it is lost,
// and one after Close says that the exchange is closed.
func TestSendAfterTheEnd(t *testing.T) {
	_, l := pair(t)
	l.conn.Close()
	e := NewExchange(testJob, 0, newNonce(), nil).(*client)
	e.link = l
	if _, err := e.Get(bounded(t), "k"); err == nil || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("a Get on a connection that has ended: %v", err)
	}
	e.Close()
	if _, err := e.ask(bounded(t), message{kind: msgGet}); err == nil || err.Error() != "it is closed" {
		t.Errorf("a Get after Close: %v", err)
	}
	if err := e.because(io.EOF); err.Error() != "it is closed" {
		t.Errorf("a write that fails since Close has closed the connection: %v", err)
	}
}

// TestWrongSecret checks that a client or server without the secret receives nothing but a nonce.
func TestWrongSecret(t *testing.T) {
	secret := newNonce()
	addr, logged := serve(t, 2, secret)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := join(t, 0, newNonce(), addr).Put(ctx, "k", []byte("v")); err == nil {
		t.Error("a PE with another secret was let in")
	}
	if !strings.Contains(logged(), errStranger.Error()) {
		t.Errorf("logged %q", logged())
	}
	if v, err := getNow(t, join(t, 1, secret, addr)); err == nil {
		t.Errorf("the value of a client without the secret was published: %q", v)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write(bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 100))
	defer context.AfterFunc(bounded(t), func() { conn.SetReadDeadline(time.Now()) })()
	if got, err := io.ReadAll(conn); len(got) > nonceBytes || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stranger got %d bytes, %v", len(got), err)
	}
}

func getNow(t *testing.T, e boot.Exchange) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return e.Get(ctx, "k")
}

// TestFalseServer checks that a client refuses a server that does not hold the secret.
func TestFalseServer(t *testing.T) {
	addr, _ := serve(t, 1, newNonce())
	right := newNonce()
	good, _ := serve(t, 1, right)
	if err := join(t, 0, right, addr, good).Put(bounded(t), "k", nil); err != nil {
		t.Errorf("with the right server second: %v", err)
	}
	server, client := net.Pipe()
	defer server.Close()
	go func() { // knows nothing, and answers with what it was sent
		server.Write(newNonce())
		proof := make([]byte, proofBytes)
		io.ReadFull(server, proof)
		server.Write(proof[nonceBytes+4:])
	}()
	if _, err := proveIdentity(client, testJob, 0, right); !errors.Is(err, errStranger) {
		t.Errorf("a reflecting server: %v", err)
	}
}

// TestWrongPlace checks that the server refuses a PE of another job, a PE out of range, and a PE that is connected
// already.
func TestWrongPlace(t *testing.T) {
	secret := newNonce()
	addr, logged := serve(t, 2, secret)
	if err := join(t, 0, secret, addr).Put(bounded(t), "k", nil); err != nil {
		t.Fatal(err)
	}
	for want, e := range map[string]boot.Exchange{
		errStranger.Error():                  NewExchange("another job", 1, secret, []string{addr}),
		"it calls itself PE 2 in a job of 2": NewExchange(testJob, 2, secret, []string{addr}),
		"PE 0 is connected already":          NewExchange(testJob, 0, secret, []string{addr}),
	} {
		ctx, cancel := context.WithCancel(bounded(t))
		go func() {
			for ctx.Err() == nil && !strings.Contains(logged(), want) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if err := e.Fence(ctx); err == nil {
			t.Errorf("%+v was let in", e)
		}
		<-ctx.Done()
		e.Close()
		if !strings.Contains(logged(), want) {
			t.Errorf("no %q in %q", want, logged())
		}
	}
}

// TestHalfOpen checks that the number of connections without a handshake is bounded, and that PEs can connect when
// those have ended.
func TestHalfOpen(t *testing.T) {
	secret := newNonce()
	addr, logged := serve(t, 1, secret)
	var idle []net.Conn
	for range maxHalfOpen + 20 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	for limit := bounded(t); !strings.Contains(logged(), "too many connections"); time.Sleep(time.Millisecond) {
		if limit.Err() != nil {
			t.Fatal("all of them are held open")
		}
	}
	for _, conn := range idle {
		conn.Close()
	}
	if err := join(t, 0, secret, addr).Put(bounded(t), "k", nil); err != nil {
		t.Error(err)
	}
}

// pair returns the ends of an authenticated connection over a pipe.
func pair(t *testing.T) (server, client *link) {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	secret := newNonce()
	done := make(chan error)
	go func() {
		var err error
		server, _, err = accept(a, testJob, 1, secret)
		done <- err
	}()
	client, err := proveIdentity(b, testJob, 0, secret)
	if err = errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// TestForgedFrames checks that the receiver detects a frame that was changed, repeated or cut.
func TestForgedFrames(t *testing.T) {
	frame := func(l *link, m message) []byte {
		var b bytes.Buffer
		saved := l.conn
		l.conn = bufferConn{&b}
		defer func() { l.conn = saved }()
		if err := l.send(m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	m := message{kind: msgPut, call: 1, key: "k", value: []byte("v")}
	for name, forge := range map[string]func(b []byte) []byte{
		"body":     func(b []byte) []byte { b[11] ^= 1; return b },
		"mac":      func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"repeated": func(b []byte) []byte { return append(b, b...) },
		"huge":     func(b []byte) []byte { b[0] = 255; return b },
		"cut":      func(b []byte) []byte { return b[:len(b)-1] },
	} {
		server, client := pair(t)
		b := forge(frame(client, m))
		go func() { client.conn.Write(b); client.conn.Close() }()
		var err error
		for n := 0; err == nil; n++ {
			if _, err = server.receive(); err == nil && (name != "repeated" || n > 0) {
				t.Errorf("%s: accepted", name)
			}
		}
		if err == io.EOF {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// bufferConn is the writing half of a connection.
type bufferConn struct{ b *bytes.Buffer }

func (c bufferConn) Write(p []byte) (int, error)        { return c.b.Write(p) }
func (c bufferConn) Read([]byte) (int, error)           { return 0, io.EOF }
func (c bufferConn) Close() error                       { return nil }
func (c bufferConn) LocalAddr() net.Addr                { return nil }
func (c bufferConn) RemoteAddr() net.Addr               { return nil }
func (c bufferConn) SetDeadline(t time.Time) error      { return nil }
func (c bufferConn) SetReadDeadline(t time.Time) error  { return nil }
func (c bufferConn) SetWriteDeadline(t time.Time) error { return nil }

func FuzzDecodeMessage(f *testing.F) {
	for _, m := range []message{{kind: msgPut, call: 7 << 32, key: "key", value: []byte("value")}, {kind: msgFence}, {kind: msgError, value: []byte("no")}} {
		b, err := m.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			if len(b) <= maxBody {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b, m, again)
		}
	})
}

// FuzzStranger sends bytes to the server, which must refuse them, and send one nonce at most.
func FuzzStranger(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(make([]byte, proofBytes+100))
	f.Fuzz(func(t *testing.T, b []byte) {
		server, client := net.Pipe()
		go func() {
			io.ReadFull(client, make([]byte, nonceBytes))
			client.Write(b)
			client.Close()
		}()
		if _, _, err := accept(server, testJob, 1, make([]byte, boot.SecretBytes)); err == nil {
			t.Errorf("%x was let in", b)
		}
		server.Close()
	})
}
