//go:build cgo

package ucx

import (
	"testing"
)

// Posting and completing allocate nothing, whichever way an operation completes.
func TestAllocs(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 1<<16)
		small, large := make([]byte, 8), make([]byte, 1<<15)
		at := p.mem.Addr()
		for name, post := range map[string]func() (Request, error){
			"put 8":       func() (Request, error) { return p.ep.Put(small, at, p.key) },
			"put 32K":     func() (Request, error) { return p.ep.Put(large, at, p.key) },
			"get 8":       func() (Request, error) { return p.ep.Get(small, at, p.key) },
			"get 32K":     func() (Request, error) { return p.ep.Get(large, at, p.key) },
			"fetch-add":   func() (Request, error) { return p.ep.FetchAtomic(AtomicAdd, 8, 1, 0, at, p.key) },
			"fetch-or":    func() (Request, error) { return p.ep.FetchAtomic(AtomicOr, 4, 1, 0, at, p.key) },
			"post-add":    func() (Request, error) { return Request{}, p.ep.PostAtomic(AtomicAdd, 8, 1, 0, at, p.key) },
			"post-swap":   func() (Request, error) { return Request{}, p.ep.PostAtomic(AtomicSwap, 8, 1, 0, at, p.key) },
			"flush":       func() (Request, error) { return p.ep.Flush() },
			"fence":       func() (Request, error) { return Request{}, p.origin.Fence() },
			"small to am": func() (Request, error) { return p.ep.SendAM(9, small, nil, AMEager) },
		} {
			op := func() {
				r, err := post()
				if err == nil {
					err = r.Wait(p.ctx)
				}
				if err != nil {
					t.Fatal(name, err)
				}
			}
			op()
			// Other goroutines of the test allocate now and then: a real allocation per run shows
			// as at least one.
			if n := testing.AllocsPerRun(200, op); n >= 1 {
				t.Errorf("%s: %v allocations", name, n)
			}
			p.flush(t)
		}
	})
}

// Many operations at a time, each with a buffer to hold, reuse their slots and pins.
func TestAllocsManyAtOnce(t *testing.T) {
	const depth = 32
	p := newPair(t, "tcp", 1<<16)
	var requests [depth]Request
	large := make([]byte, 2048)
	burst := func() {
		for i := range requests {
			r, err := p.ep.Put(large, p.mem.Addr(), p.key)
			if err != nil {
				t.Fatal(err)
			}
			requests[i] = r
		}
		for i := range requests {
			if err := requests[i].Wait(p.ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	burst()
	if n := testing.AllocsPerRun(50, burst); n >= depth/4 {
		t.Errorf("%v allocations for %d puts", n, depth)
	}
}
