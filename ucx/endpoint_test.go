//go:build cgo

package ucx

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// Nothing is connected before the endpoint is used, and a closed one says so.
func TestEndpointLife(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 64)
		lazy := openEndpoint(t, p.origin, p.target, p.params)
		r, err := lazy.Flush()
		p.wait(t, r, err)
		r, err = lazy.Close() // never used: nothing to disconnect
		p.wait(t, r, err)
		if _, err := lazy.Flush(); !errors.Is(err, ErrNotConnected) {
			t.Errorf("flush after close: %v", err)
		}

		used := openEndpoint(t, p.origin, p.target, p.params)
		if err := used.Connect(); err != nil {
			t.Fatal(err)
		}
		if err := used.Err(); err != nil {
			t.Error("a working endpoint has the error", err)
		}
		var text bytes.Buffer
		if err := used.Print(&text); err != nil || !strings.Contains(text.String(), "lane[0]") {
			t.Errorf("print: %v\n%s", err, &text)
		}
		r, err = used.Close()
		p.wait(t, r, err)
		if err := used.Err(); !errors.Is(err, ErrNotConnected) {
			t.Errorf("a closed endpoint has the error %v", err)
		}
		if _, err := used.Close(); !errors.Is(err, ErrNotConnected) {
			t.Errorf("second close: %v", err)
		}
	})
}

// Close delivers what was posted before it.
func TestCloseFlushes(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 1<<20)
		src := pattern(1<<20, 5)
		r, err := p.ep.Put(src, p.mem.Addr(), p.key)
		if err != nil {
			t.Fatal(err)
		}
		closed, err := p.ep.Close()
		p.wait(t, closed, err)
		p.wait(t, r, nil)
		if !bytes.Equal(p.mem.Bytes(), src) {
			t.Error("close lost a put")
		}
	})
}

// Abort ends operations that could never complete, because no process serves the target.
func TestAbort(t *testing.T) {
	p := newPair(t, "tcp", 1<<20)
	p.stop()
	r, err := p.ep.Put(pattern(1<<20, 5), p.mem.Addr(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.ep.Flush()
	if err != nil {
		t.Fatal(err)
	}
	if st := f.Status(); st != InProgress {
		t.Fatalf("flush of an unserved put is %v", st)
	}
	f.Cancel() // UCX may ignore it; it must not hurt
	closed, err := p.ep.Abort()
	p.wait(t, closed, err)
	for name, r := range map[string]*Request{"put": &r, "flush": &f} {
		if err := r.Wait(p.ctx); err != nil && !errors.Is(err, ErrCanceled) {
			t.Errorf("%s after abort: %v", name, err)
		}
	}
	if st := f.Status(); st != ErrCanceled {
		t.Errorf("flush after abort is %v", st)
	}
}

// A wait that cannot end can be cancelled, and taken up again.
func TestWaitIsCancelled(t *testing.T) {
	p := newPair(t, "tcp", 1<<20)
	p.stop()
	r, err := p.ep.Get(make([]byte, 1<<20), p.mem.Addr(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Millisecond)
	defer cancel()
	if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait ended with %v", err)
	}
	if st := r.Status(); st != InProgress {
		t.Fatalf("status is %v", st)
	}
	stop := serve(t, p.target)
	p.wait(t, r, nil)
	p.settle()
	p.origin.Close() // while the target still answers
	stop()
}

// A request that was given up completes behind the scenes, and its slot is used again.
func TestFree(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 1<<16)
		src := pattern(1<<16, 1)
		for range 500 {
			r, err := p.ep.Put(src, p.mem.Addr(), p.key)
			if err != nil {
				t.Fatal(err)
			}
			pending := r.Status() == InProgress
			r.Free()
			if pending && r.Status() != ErrCanceled {
				t.Fatalf("status after free is %v", r.Status())
			}
			r.Free()
			p.flush(t)
		}
		if n := len(p.origin.slots); n > 64 {
			t.Errorf("%d slots for one operation at a time", n)
		}
		if !bytes.Equal(p.mem.Bytes(), src) {
			t.Error("the puts did not arrive")
		}
	})
}

// Requests of a closed worker are cancelled, not dangling.
func TestWorkerCloseCancels(t *testing.T) {
	p := newPair(t, "tcp", 1<<20)
	p.stop()
	r, err := p.ep.Get(make([]byte, 1<<20), p.mem.Addr(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	p.origin.Close()
	p.origin.Close()
	if st := r.Status(); st != ErrCanceled {
		t.Errorf("status after the worker closed is %v", st)
	}
	if err := r.Wait(p.ctx); err == nil {
		t.Error("waiting on a closed worker succeeded")
	}
	r.Free()
	if _, err := p.ep.Put([]byte{1}, p.mem.Addr(), p.key); !errors.Is(err, ErrNotConnected) {
		t.Errorf("put on a closed worker: %v", err)
	}
}

const childVariable = "UCX_TEST_CHILD"

// TestMain lets the test binary be the peer that dies.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child serves a memory whose address and key it prints, until it is killed.
func child() int {
	config, err := ReadConfig("", "")
	if err == nil {
		err = config.Modify("TLS", "tcp")
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	c, err := NewContext(Params{Config: config})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	w, err1 := c.NewWorker(WorkerParams{})
	m, err2 := c.AllocMemory(1 << 20)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return 1
	}
	address, err1 := w.Address()
	key, err2 := m.PackKey()
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return 1
	}
	text := base64.StdEncoding.EncodeToString
	fmt.Println(text(address), text(key), m.Addr())
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	for w.Wait(ctx) == nil {
	}
	return 1
}

// startChild runs child and connects to it.
func startChild(t *testing.T, w *Worker) (cmd *exec.Cmd, ep *Endpoint, key *RKey, addr uint64) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var address64, key64 string
	if _, err := fmt.Sscan(line, &address64, &key64, &addr); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	address, err1 := base64.StdEncoding.DecodeString(address64)
	packed, err2 := base64.StdEncoding.DecodeString(key64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if ep, err = w.NewEndpoint(address, EndpointParams{}); err != nil {
		t.Fatal(err)
	}
	if key, err = ep.UnpackKey(packed); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(key.Close)
	return cmd, ep, key, addr
}

// When the peer's process is killed, its endpoint fails, everything on it fails, and the rest of the
// worker goes on.
func TestPeerDies(t *testing.T) {
	ctx := withTimeout(t)
	w := openWorker(t, openContext(t, "tcp"), WorkerParams{})
	victim, ep, key, addr := startChild(t, w)
	_, otherEP, otherKey, otherAddr := startChild(t, w)
	src := pattern(1<<20, 1)
	r, err := ep.Put(src, addr, key)
	if err == nil {
		err = r.Wait(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()

	// Keep posting until the endpoint has noticed; each operation ends, one way or the other.
	for ep.Err() == nil {
		r, err := ep.Get(src, addr, key)
		if err == nil {
			err = r.Wait(ctx)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("an operation to a dead peer never ended")
		}
		if err == nil {
			t.Fatal("a dead peer answered")
		}
		w.Progress()
	}
	var status Status
	if err := ep.Err(); !errors.As(err, &status) || status >= OK {
		t.Errorf("the endpoint's error is %v", err)
	}
	t.Log(ep.Err())
	if n := w.Failures(); n != 1 {
		t.Errorf("%d failures", n)
	}
	if got := w.NextFailed(); got != ep {
		t.Error("NextFailed does not return the endpoint")
	}
	if got := w.NextFailed(); got != nil {
		t.Error("NextFailed returns an endpoint twice")
	}
	if _, err := ep.Put(src, addr, key); err == nil {
		t.Error("a put on a failed endpoint was accepted")
	}
	if f, err := w.Flush(); err == nil {
		if err = f.Wait(ctx); !errors.Is(err, status) {
			t.Errorf("flush of a worker with a failed endpoint: %v", err)
		}
	}
	key.Close()
	closed, err := ep.Close()
	if err == nil {
		err = closed.Wait(ctx)
	}
	if err != nil {
		t.Error("closing a failed endpoint:", err)
	}

	r, err = otherEP.Put(src, otherAddr, otherKey)
	if err == nil {
		err = r.Wait(ctx)
	}
	if err != nil {
		t.Error("the other endpoint:", err)
	}
	f, err := w.Flush()
	if err == nil {
		err = f.Wait(ctx)
	}
	if err != nil {
		t.Error("flush after the failed endpoint was closed:", err)
	}
}

// A peer that aborts its endpoint, or closes its worker, is noticed too.
func TestPeerCloses(t *testing.T) {
	p := newPair(t, "tcp", 1<<20)
	r, err := p.ep.Put(pattern(1<<16, 1), p.mem.Addr(), p.key)
	p.wait(t, r, err)
	p.flush(t)
	p.stop()
	p.target.Close()
	for p.ep.Err() == nil {
		r, err := p.ep.Get(make([]byte, 64), p.mem.Addr(), p.key)
		if err == nil {
			err = r.Wait(p.ctx)
		}
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("get from a closed worker: %v", err)
		}
	}
	if p.origin.Failures() != 1 {
		t.Errorf("%d failures", p.origin.Failures())
	}
}

func TestUnreachable(t *testing.T) {
	there := openWorker(t, openContext(t, "self"), WorkerParams{})
	here := openWorker(t, openContext(t, "tcp"), WorkerParams{})
	ep := openEndpoint(t, here, there, EndpointParams{})
	err := ep.Connect()
	if !errors.Is(err, ErrUnreachable) {
		t.Fatalf("connecting over tcp to a worker without it: %v", err)
	}
	checkLine(t, err)
	_, err = ep.SendAM(1, nil, []byte("x"), 0)
	if !errors.Is(err, ErrUnreachable) {
		t.Errorf("sending to it: %v", err)
	}
	t.Log(err)
}

// Where shared memory cannot tell that a peer died, the error says what to do.
func TestTrusting(t *testing.T) {
	there := openWorker(t, openContext(t, "self,posix"), WorkerParams{})
	here := openWorker(t, openContext(t, "self,posix"), WorkerParams{})
	err := openEndpoint(t, here, there, EndpointParams{}).Connect()
	if err == nil {
		t.Skip("this UCX detects dead peers over shared memory")
	}
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "EndpointParams.Trusting") {
		t.Errorf("the error is %v", err)
	}
	checkLine(t, err)
}
