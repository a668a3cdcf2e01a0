//go:build cgo

package ucx

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Any number of goroutines may use a shared worker; the race detector watches.
func TestSharedWorker(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const goroutines, rounds = 8, 40
		p := newPair(t, tls, goroutines*8)
		w := openWorker(t, p.origin.Context(), WorkerParams{Shared: true})
		ep := openEndpoint(t, w, p.target, p.params)
		key, err := ep.UnpackKey(mustKey(t, p.mem))
		if err != nil {
			t.Fatal(err)
		}
		defer key.Close()
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				if err := shareWorker(p, ep, key, g, rounds); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for g := range goroutines {
			if got := load(p.mem.Bytes()[8*g:], 8); got != rounds {
				t.Errorf("word %d is %d", g, got)
			}
		}
	})
}

// shareWorker counts a word of its own up by get and put, and checks each step by an atomic.
func shareWorker(p *pair, ep *Endpoint, key *RKey, g, rounds int) error {
	at := p.mem.Addr() + uint64(8*g)
	word := make([]byte, 8)
	finish := func(r Request, err error) error {
		if err != nil {
			return err
		}
		return r.Wait(p.ctx)
	}
	for i := range rounds {
		if err := finish(ep.Get(word, at, key)); err != nil {
			return err
		}
		store(word, 8, load(word, 8)+1)
		if err := finish(ep.Put(word, at, key)); err != nil {
			return err
		}
		if err := finish(ep.Flush()); err != nil {
			return err
		}
		r, err := ep.FetchAtomic(AtomicAdd, 8, 0, 0, at, key)
		if err := finish(r, err); err != nil {
			return err
		}
		if err := ep.Err(); err != nil {
			return err
		}
		if i%10 == 0 {
			runtime.GC() // moves stacks, and would free what is not held
		}
	}
	return nil
}

func TestWakeup(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 64)
		in, err := p.target.NewInbox(1)
		if err != nil {
			t.Fatal(err)
		}
		// Connect both ways first: what that sends would wake the target too.
		r, err := p.ep.FetchAtomic(AtomicAdd, 8, 1, 0, p.mem.Addr(), p.key)
		p.wait(t, r, err)
		p.flush(t)
		p.stop()
		fd, err := p.target.EventFD()
		if err != nil || fd < 0 {
			t.Fatal(fd, err)
		}
		arm(t, p)
		r, err = p.ep.SendAM(1, nil, []byte("wake up"), 0)
		if err != nil {
			t.Fatal(err)
		}
		for !readable(t, fd, time.Millisecond) {
			p.origin.Progress()
			if p.ctx.Err() != nil {
				t.Fatal("a message did not make the descriptor readable")
			}
		}
		m, err := in.Receive(p.ctx)
		if err != nil || string(m.Data()) != "wake up" {
			t.Fatalf("received %q, %v", m.Data(), err)
		}
		m.Free()
		stop := serve(t, p.target)
		p.wait(t, r, nil)
		p.flush(t)
		p.origin.Close() // while the target still answers
		stop()
	})
}

// arm makes progress until there is nothing to do.
func arm(t *testing.T, p *pair) {
	t.Helper()
	for {
		err := p.target.Arm()
		if err == nil {
			return
		}
		if !errors.Is(err, ErrBusy) || p.ctx.Err() != nil {
			t.Fatal(err, p.ctx.Err())
		}
		p.target.Progress()
	}
}

func readable(t *testing.T, fd int, wait time.Duration) bool {
	t.Helper()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(wait.Milliseconds()))
	if err != nil && err != unix.EINTR {
		t.Fatal(err)
	}
	return n > 0
}

func TestSignalEndsWait(t *testing.T) {
	w := openWorker(t, openContext(t, "tcp"), WorkerParams{Shared: true})
	ctx := withTimeout(t)
	ended := make(chan error)
	go func() { ended <- w.Wait(ctx) }()
	for {
		if err := w.Signal(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-time.After(time.Millisecond): // it had not begun to wait
		}
	}
}

// Without the wakeup feature waits doze instead.
func TestWaitWithoutWakeup(t *testing.T) {
	c, err := NewContext(Params{Features: FeatureAM})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := openWorker(t, c, WorkerParams{})
	defer w.Close()
	if _, err := w.EventFD(); !errors.Is(err, ErrInvalidParam) {
		t.Errorf("event descriptor: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := w.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
}

// A nil dereference stays a panic that Go code can recover from: UCX's own signal handlers do not get it.
func TestPanicsAreRecovered(t *testing.T) {
	openContext(t, "tcp")
	defer func() {
		if r := recover(); r == nil {
			t.Error("no panic")
		}
	}()
	var p *pair
	p.ctx = context.Background()
}
