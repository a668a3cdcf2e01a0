//go:build cgo

package ucx

// The fixture of the tests: two workers in one process, on every combination of transports that this
// machine offers between them.

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// transports are the values of TLS under which everything is tested.
var transports = []string{"self,posix", "self,sysv,cma", "tcp"}

// trusting says which of them cannot tell that a peer died.
func trusting(tls string) bool { return tls != "tcp" }

func withTimeout(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := hang.Context(context.Background())
	t.Cleanup(cancel)
	return ctx
}

func openContext(t testing.TB, tls string) *Context {
	t.Helper()
	config, err := ReadConfig("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer config.Close()
	for name, value := range map[string]string{"TLS": tls, "KEEPALIVE_INTERVAL": "1s"} {
		if err := config.Modify(name, value); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewContext(Params{Config: config, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func openWorker(t testing.TB, c *Context, p WorkerParams) *Worker {
	t.Helper()
	w, err := c.NewWorker(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func openEndpoint(t testing.TB, from, to *Worker, p EndpointParams) *Endpoint {
	t.Helper()
	address, err := to.Address()
	if err != nil {
		t.Fatal(err)
	}
	ep, err := from.NewEndpoint(address, p)
	if err != nil {
		t.Fatal(err)
	}
	return ep
}

// pair is an origin with an endpoint to a target that another goroutine makes progress on.
type pair struct {
	ctx    context.Context
	params EndpointParams
	origin *Worker
	target *Worker
	ep     *Endpoint
	mem    *Memory // of the target
	key    *RKey
	stop   func() // ends the target's progress
}

// newPair makes a pair whose target has n bytes of memory.
func newPair(t testing.TB, tls string, n int) *pair {
	t.Helper()
	there := openContext(t, tls)
	here := openContext(t, tls)
	p := &pair{ctx: withTimeout(t), params: EndpointParams{Trusting: trusting(tls)}}
	mem, err := there.AllocMemory(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	p.mem = mem
	p.target = openWorker(t, there, WorkerParams{Shared: true, Name: "target"})
	p.stop = serve(t, p.target) // until the origin is closed
	p.origin = openWorker(t, here, WorkerParams{Name: "origin"})
	p.ep = openEndpoint(t, p.origin, p.target, p.params)
	packed, err := mem.PackKey()
	if err != nil {
		t.Fatal(err)
	}
	if p.key, err = p.ep.UnpackKey(packed); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.key.Close)
	t.Cleanup(p.settle)
	return p
}

// settle leaves nothing in flight: UCX ends the process of a target that emulates puts when their origin
// goes away in the middle of one.
func (p *pair) settle() {
	if r, err := p.ep.Flush(); err == nil {
		ctx, cancel := hang.Context(context.Background())
		defer cancel()
		r.Wait(ctx)
	}
}

// serve makes progress on a worker until the test ends or stop is called.
func serve(t testing.TB, w *Worker) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := w.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Error("serve:", err)
				return
			}
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
		})
	}
	t.Cleanup(stop)
	return stop
}

// wait finishes an operation that must succeed.
func (p *pair) wait(t testing.TB, r Request, err error) uint64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(p.ctx); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st != OK {
		t.Fatalf("status after a successful wait is %v", st)
	}
	return r.Value()
}

func (p *pair) flush(t testing.TB) {
	t.Helper()
	r, err := p.ep.Flush()
	p.wait(t, r, err)
}

// each runs a test once for every transport.
func each(t *testing.T, body func(t *testing.T, tls string)) {
	for _, tls := range transports {
		t.Run(tls, func(t *testing.T) { body(t, tls) })
	}
}

// pattern is n bytes that differ from place to place and from seed to seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}
