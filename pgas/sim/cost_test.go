package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// costs are round numbers, each of which shows in a result.
func costs() *sim.Costs {
	return &sim.Costs{
		Memory: map[string]sim.Memory{
			"numa": {Line: sim.Nanos(40), PerByte: sim.Nanos(1)},
			"host": {Line: sim.Nanos(100), PerByte: sim.Nanos(1)},
		},
		Network:   []sim.Link{{Latency: sim.Nanos(1_000), PerByte: sim.Nanos(1)}, {Latency: sim.Nanos(3_000), PerByte: sim.Nanos(1)}},
		Loopback:  sim.Link{Latency: sim.Nanos(700), PerByte: sim.Nanos(1)},
		Overhead:  sim.Nanos(200),
		Answer:    sim.Nanos(200),
		Gap:       sim.Nanos(50),
		NICAtomic: sim.Nanos(400),
		Hit:       sim.Nanos(6),
		Poll:      sim.Nanos(20),
	}
}

// The machine of these tests: PEs 0-1 and 2-3 share a NUMA node, 0-3 a host, 0-7 a rack, and PE 8 is in
// another one.
const machine = "numa:2,host:2,rack:2"

// took runs body on PE 0 of 12 and returns how long it took there.
func took(t *testing.T, cfg sim.Config, body func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error) time.Duration {
	t.Helper()
	var d time.Duration
	cfg.Topology, cfg.Costs = machine, costs()
	_, err := sim.Run(t.Context(), cfg, 12, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1000)
		if err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := w.Sleep(ctx, time.Millisecond); err != nil { // what the barrier has sent is through
			return err
		}
		if w.PE() == 0 {
			start := w.Now()
			if err := body(ctx, w, words); err != nil {
				return err
			}
			d = w.Now() - start
		} else if err := w.Sleep(ctx, time.Millisecond); err != nil { // the NICs are PE 0's alone
			return err
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCosts compares single operations with the formula: o, the wire's time for the bytes, L; at the
// target an atomic's time; the way back, and o.
func TestCosts(t *testing.T) {
	const atomic = 200 + 8 + 1000 + 400 + 8 + 1000 + 200
	fetchAdd := func(pe int) func(context.Context, *pgas.World, pgas.Sym[int64]) error {
		return func(_ context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			pgas.AtomicOf(words, 0).FetchAdd(pe, 1)
			return nil
		}
	}
	get := func(pe, n int) func(context.Context, *pgas.World, pgas.Sym[int64]) error {
		return func(_ context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			words.Range(0, n).Get(pe, make([]int64, n))
			return nil
		}
	}
	for _, c := range []struct {
		name string
		cfg  sim.Config
		body func(context.Context, *pgas.World, pgas.Sym[int64]) error
		want time.Duration
	}{
		{"atomic on the own word", sim.Config{}, fetchAdd(0), 6},
		{"atomic in the NUMA node", sim.Config{}, fetchAdd(1), 6 + 40},
		{"atomic in the host", sim.Config{}, fetchAdd(2), 6 + 100},
		{"atomic in the rack", sim.Config{}, fetchAdd(4), atomic},
		{"atomic in another rack", sim.Config{}, fetchAdd(8), atomic + 2*2000},
		{"split atomic in the rack", sim.Config{Atomics: sim.Split}, fetchAdd(4), atomic},
		{"split atomic on the own word", sim.Config{Atomics: sim.Split}, fetchAdd(0), atomic - 2*300},
		{"split atomic in the host", sim.Config{Atomics: sim.Split}, fetchAdd(2), atomic - 2*300},
		{"atomic by CPU among split ones", sim.Config{Atomics: sim.Split}, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			c, err := w.NewContext(pgas.ByCPU())
			if err != nil {
				return err
			}
			pgas.AtomicOf(words, 0).On(c).FetchAdd(2, 1)
			return nil
		}, 6 + 100},
		{"get of 8 bytes in the rack", sim.Config{}, get(4, 1), 200 + 1000 + 8 + 1000 + 200},
		{"get of 800 bytes in the rack", sim.Config{}, get(4, 100), 200 + 1000 + 800 + 1000 + 200},
		{"get of 800 bytes in the host", sim.Config{}, get(2, 100), 6 + 800 + 100},
		{"put of 800 bytes in the rack", sim.Config{}, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			words.Range(0, 100).Put(4, make([]int64, 100))
			return w.Quiet(ctx)
		}, 200 + 800 + 1000 + 1000},
		{"two puts share the NIC", sim.Config{}, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			words.Range(0, 100).Put(4, make([]int64, 100))
			words.Range(0, 100).Put(5, make([]int64, 100))
			return w.Quiet(ctx)
		}, 200 + 2*800 + 1000 + 1000},
		{"ten small puts follow each other by the overhead", sim.Config{}, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			for range 10 {
				words.At(0).Put(4, 1)
			}
			return w.Quiet(ctx)
		}, 10*200 + 8 + 1000 + 1000},
		{"a sleep", sim.Config{}, func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error {
			return w.Sleep(ctx, 12345)
		}, 12345},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := took(t, c.cfg, c.body); got != c.want {
				t.Fatalf("took %d ns, want %d", got, c.want)
			}
		})
	}
}

// TestPingPong: each way is one put, for which a PE waits.
func TestPingPong(t *testing.T) {
	const rounds = 100
	const way = 200 + 8 + 1000 + 400 + 20
	var d time.Duration
	_, err := sim.Run(t.Context(), sim.Config{Costs: costs()}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		word, other := pgas.AtomicOf(words, 0), 1-w.PE()
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := w.Sleep(ctx, time.Millisecond-w.Now()); err != nil { // both begin at the same time
			return err
		}
		start := w.Now()
		for i := range int64(rounds) {
			if w.PE() == 0 {
				word.Set(other, i+1)
			}
			if _, err := word.WaitUntil(ctx, pgas.EQ, i+1); err != nil {
				return err
			}
			if w.PE() == 1 {
				word.Set(other, i+1)
			}
		}
		if w.PE() == 0 {
			d = w.Now() - start
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Duration(2 * rounds * way); d != want {
		t.Fatalf("%d round trips took %d ns, want %d", rounds, d, want)
	}
}

// TestNotified: with interrupts, a PE that waits for a reply, its puts or a change of its memory is woken.
func TestNotified(t *testing.T) {
	const notify, receive = 5_000, 600
	c := costs()
	c.Notify, c.Receive = sim.Nanos(notify), sim.Nanos(receive)
	var fetched, quiet, told time.Duration
	_, err := sim.Run(t.Context(), sim.Config{Costs: c}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if err := w.Sleep(ctx, time.Millisecond-w.Now()); err != nil {
			return err
		}
		start, word := w.Now(), pgas.AtomicOf(words, 0)
		if w.PE() == 1 {
			_, err := word.WaitUntil(ctx, pgas.EQ, 1)
			told = w.Now() - start
			return err
		}
		words.At(0).Put(1, 1) //pgasvet:ok a plain put, whose time at the waiter is measured
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		quiet = w.Now() - start
		start = w.Now()
		word.FetchAdd(1, 1)
		fetched = w.Now() - start
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Duration(200 + 8 + 1000 + 20 + receive + notify); told != want {
		t.Errorf("the PE that waits for a put goes on after %d ns, want %d", told, want)
	}
	if want := time.Duration(200 + 8 + 1000 + 1000 + notify); quiet != want {
		t.Errorf("a put and quiet take %d ns, want %d", quiet, want)
	}
	if want := time.Duration(200 + 8 + 1000 + 400 + 8 + 1000 + 200 + notify); fetched != want {
		t.Errorf("an atomic takes %d ns, want %d", fetched, want)
	}
}

// TestContendedNIC: atomics of many hosts on words of one are executed one after another, whatever words,
// and those on words of many hosts are not.
func TestContendedNIC(t *testing.T) {
	const npes, each = 33, 20
	for _, contended := range []bool{true, false} {
		var last time.Duration
		_, err := sim.Run(t.Context(), sim.Config{Costs: costs()}, npes, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 1000)
			if err != nil {
				return err
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if err := w.Sleep(ctx, time.Millisecond-w.Now()); err != nil {
				return err
			}
			start := w.Now()
			if w.PE() > 0 {
				to := 0
				if !contended {
					to = w.PE()%(npes-1) + 1
				}
				for range each {
					pgas.AtomicOf(words, 16*w.PE()).FetchAdd(to, 1)
				}
			}
			last = max(last, w.Now()-start)
			return w.Barrier(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		alone := time.Duration(each * (200 + 8 + 1000 + 400 + 8 + 1000 + 200))
		if contended {
			serial := time.Duration((npes - 1) * each * 400)
			if last < serial || last > serial+3000 {
				t.Errorf("contended: %d ns, want what one NIC takes for all: %d", last, serial)
			}
		} else if last != alone {
			t.Errorf("uncontended: %d ns, want %d", last, alone)
		}
	}
}

// TestLineContention: CPUs that update one line take turns, and each pays for moving it.
func TestLineContention(t *testing.T) {
	const each = 50
	var last time.Duration
	_, err := sim.Run(t.Context(), sim.Config{Costs: costs(), Topology: machine}, 4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := w.Sleep(ctx, time.Millisecond-w.Now()); err != nil {
			return err
		}
		start := w.Now()
		for range each {
			pgas.AtomicOf(words, 0).FetchAdd(0, 1)
		}
		last = max(last, w.Now()-start)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if got := words.Local()[0]; w.PE() == 0 && got != 4*each {
			return fmt.Errorf("the sum is %d", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if least := time.Duration(4 * each * 6); last < 10*least {
		t.Errorf("4 PEs took %d ns for %d updates of one line: it does not move", last, 4*each)
	}
}
