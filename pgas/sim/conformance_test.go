package sim

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/sim/internal/network"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
	"github.com/gopgas/gopgas/pgas/transport/transporttest"
)

// A driven PE is one without a program: its caller acts as its task, and handles events until the call
// is over. Calls of goroutines come one after another.
type driven struct {
	*network.PE
	mu *sync.Mutex
	t  *engine.Task
	s  *sim
}

func (d driven) Channel(private bool) (transport.Channel, error) {
	c, err := d.PE.Channel(private)
	return drivenChannel{c, d}, err
}

func (d driven) do(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.s.net.Engine.Drive(d.t, f)
}

type drivenChannel struct {
	transport.Channel
	d driven
}

func (c drivenChannel) Put(pe int, dst uint64, src []byte) {
	c.d.do(func() { c.Channel.Put(pe, dst, src) })
}

func (c drivenChannel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.d.do(func() { c.Channel.PutSignal(pe, dst, src, sig, op, value) })
}

func (c drivenChannel) Get(ctx context.Context, pe int, dst []byte, src uint64) (err error) {
	c.d.do(func() { err = c.Channel.Get(ctx, pe, dst, src) })
	return err
}

func (c drivenChannel) GetNB(pe int, dst []byte, src uint64) {
	c.d.do(func() { c.Channel.GetNB(pe, dst, src) })
}

func (c drivenChannel) Atomic(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (old uint64, err error) {
	c.d.do(func() { old, err = c.Channel.Atomic(ctx, pe, op, at, operand, cond) })
	return old, err
}

func (c drivenChannel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	c.d.do(func() { c.Channel.AtomicNB(pe, op, at, operand, cond, dst) })
}

func (c drivenChannel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	c.d.do(func() { c.Channel.Post(pe, op, at, operand) })
}

func (c drivenChannel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) (ok bool) {
	c.d.do(func() { ok = c.Channel.PutNotify(pe, dst, src, s) })
	return ok
}

func (c drivenChannel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (ok bool, err error) {
	c.d.do(func() { ok, err = c.Channel.GetNotify(ctx, pe, dst, src, s) })
	return ok, err
}

func (c drivenChannel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) (ok bool) {
	c.d.do(func() { ok = c.Channel.GetNotifyNB(pe, dst, src, s) })
	return ok
}

func (c drivenChannel) AtomicNotify(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	c.d.do(func() { old, ok, err = c.Channel.AtomicNotify(ctx, pe, op, at, operand, cond, s) })
	return old, ok, err
}

func (c drivenChannel) PostNotify(pe int, op transport.Op, at transport.Word, operand uint64, s transport.Stamp) (ok bool) {
	c.d.do(func() { ok = c.Channel.PostNotify(pe, op, at, operand, s) })
	return ok
}

func (c drivenChannel) Fence(pe int) { c.d.do(func() { c.Channel.Fence(pe) }) }

func (c drivenChannel) Quiet(ctx context.Context, pe int) (err error) {
	c.d.do(func() { err = c.Channel.Quiet(ctx, pe) })
	return err
}

// TestConformance: the simulator is a transport like the others.
func TestConformance(t *testing.T) {
	for _, cfg := range []Config{{}, {Topology: "host:2"}, {Topology: "host:3", Atomics: Split}, {Adversary: true}, {Adversary: true, Atomics: Split, Seed: 5}} {
		if testing.Short() && (cfg.Adversary != (cfg.Atomics == Split)) {
			continue // for the race detector one of each is enough
		}
		t.Run(fmt.Sprintf("adversary=%v,topology=%s", cfg.Adversary, cfg.Topology), func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, npes int) *transporttest.Rig {
				s, err := newSimIn(t.Context(), cfg, npes, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.close)
				mu := new(sync.Mutex)
				r := &transporttest.Rig{SplitAtomics: cfg.Atomics == Split, Words: func(heap []byte, at transport.Word) uint64 {
					mu.Lock()
					defer mu.Unlock()
					s.net.Engine.HandleNext()
					return shm.Load(heap, at)
				}}
				r.Take = func(pe int, n *transport.Note) bool {
					mu.Lock()
					defer mu.Unlock()
					s.net.Engine.HandleNext()
					ring := s.pes[pe].net.Notes()
					return ring.TakeOne(n) || ring.Overflowed() && refilled(s.pes[pe].net) && ring.TakeOne(n)
				}
				for _, p := range s.pes {
					r.PEs = append(r.PEs, driven{p.net, mu, engine.NewDriven(&p.net.PE), s})
					r.Heaps = append(r.Heaps, p.net.Memory())
				}
				return r
			})
		})
	}
}

func refilled(p *network.PE) bool {
	p.Refill()
	return true
}
