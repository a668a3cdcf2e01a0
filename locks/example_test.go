package locks_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// onPEs runs body on some PEs of this process.
func onPEs(npes int, body pgastest.Body) {
	if err := pgastest.Goroutines(context.Background(), npes, pgastest.Options{}, body); err != nil {
		fmt.Println(err)
	}
}

// countUnder has each PE add 1 to a word of PE 0 under the lock, without an atomic operation. PE 0 prints the sum.
func countUnder(ctx context.Context, w *pgas.World, l locks.Lock) error {
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	word := words.At(0)
	if err := l.Lock(ctx); err != nil {
		return err
	}
	word.Put(0, word.Get(0)+1)
	l.Unlock() // completes the put
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		fmt.Println(word.Get(0), "PEs have counted")
	}
	return w.Barrier(ctx)
}

// A lock of one word, on the PE that needs it most.
func ExampleSpin() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSpin(ctx, w, locks.SpinOptions{Home: 3})
		if err != nil {
			return err
		}
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// Readers share the lock; a writer excludes them.
func ExampleSpinRW() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSpinRW(ctx, w, locks.SpinOptions{})
		if err != nil {
			return err
		}
		if err := l.RLock(ctx); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil { // both PEs read
			return err
		}
		if w.PE() == 0 {
			fmt.Println("a writer gets in beside readers:", l.TryLock())
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		l.RUnlock()
		return countUnder(ctx, w, l)
	})
	// Output:
	// a writer gets in beside readers: false
	// 2 PEs have counted
}

// First come, first served; a waiting PE polls a word of its own memory.
func ExampleDMCS() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		if err != nil {
			return err
		}
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// A wait for a lock ends with its context. The holder is not disturbed, and the PE that gave up may ask again.
func ExampleDMCS_Lock_cancelled() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := l.Lock(ctx); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			err := l.Lock(soon)
			fmt.Println("gave up:", errors.Is(err, context.DeadlineExceeded))
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			l.Unlock()
		}
		return countUnder(ctx, w, l)
	})
	// Output:
	// gave up: true
	// 2 PEs have counted
}

// A lock that a program embeds in a record of its own: the state is a field, and each PE makes a handle of it.
func ExampleNewDMCS() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		states, err := locks.AllocDMCSState(ctx, w, 2) // or a field of type locks.DMCSState
		if err != nil {
			return err
		}
		for i := range 2 {
			if err := countUnder(ctx, w, locks.NewDMCS(w, states.At(i), locks.DMCSOptions{Home: i})); err != nil {
				return err
			}
		}
		return states.Sym().Free(ctx)
	})
	// Output:
	// 4 PEs have counted
	// 4 PEs have counted
}

// The lock stays on a host, and in a part of it, for some holders before it moves on.
func ExampleRMAMCS() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocRMAMCS(ctx, w, locks.RMAMCSOptions{})
		if err != nil {
			return err
		}
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// Many readers and few writers, neither of which starve: at most 100 readers pass a waiting writer at each counter,
// and there is a counter for every two PEs.
func ExampleRMARW() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocRMARW(ctx, w, locks.RMARWOptions{TDC: 2, TR: 100})
		if err != nil {
			return err
		}
		if err := countUnder(ctx, w, l); err != nil {
			return err
		}
		if err := l.RLock(ctx); err != nil {
			return err
		}
		defer l.RUnlock()
		return w.Barrier(ctx) // all PEs hold it in shared mode
	})
	// Output: 4 PEs have counted
}

// PEs of the lock's host take it by their CPUs, those of other hosts by the network, in turns.
func ExampleALock() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocALock(ctx, w, locks.ALockOptions{Home: 0, LocalBudget: 10})
		if err != nil {
			return err
		}
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// Writers queue; readers between two writers come in together. A free lock costs one atomic.
func ExampleNCoSED() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocNCoSED(ctx, w, locks.NCoSEDOptions{})
		if err != nil {
			return err
		}
		if err := l.RLock(ctx); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil { // all PEs read at once
			return err
		}
		l.RUnlock()
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// A queue that PEs enter by compare-swap.
func ExampleDQNL() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocDQNL(ctx, w, locks.DQNLOptions{})
		if err != nil {
			return err
		}
		return countUnder(ctx, w, l)
	})
	// Output: 4 PEs have counted
}

// A goroutine of the home serves the lock until all PEs are done.
func ExampleSRSL() {
	onPEs(3, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{Home: 0})
		if err != nil {
			return err
		}
		serving, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		if w.PE() == 0 {
			go func() { served <- l.Serve(serving) }()
		}
		err = countUnder(ctx, w, l) // ends with a barrier
		stop()
		if w.PE() == 0 {
			fmt.Println("serving ended by its context:", errors.Is(<-served, context.Canceled))
		}
		return err
	})
	// Output:
	// 3 PEs have counted
	// serving ended by its context: true
}

// Each account has a lock of its own. The table says which of them are cheap for this PE.
func ExampleTable() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		table, err := locks.AllocTable(ctx, w, 6, locks.TableOptions{Kind: locks.TableMCS})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(table.Len(), "locks; of this host:", len(table.Near()), "of others:", len(table.Far()))
		}
		if err := countUnder(ctx, w, table.Lock(5)); err != nil {
			return err
		}
		return table.Free(ctx)
	})
	// Output:
	// 6 locks; of this host: 6 of others: 0
	// 2 PEs have counted
}

// A program that is no PE locks names by the service of its host.
func ExampleService_Serve() {
	dir, err := os.MkdirTemp("", "locks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "socket")
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		svc, err := locks.NewService(ctx, w, locks.ServiceOptions{})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			listener, err := net.Listen("unix", socket)
			if err != nil {
				return err
			}
			serving, stop := context.WithCancel(ctx)
			done := make(chan error, 1)
			go func() { done <- svc.Serve(serving, listener) }()
			defer func() { <-done }()
			defer stop()
			if err := otherProgram(ctx, socket); err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
	// Output: locked from outside the job
}

// otherProgram runs the client, which would be a process of its own.
func otherProgram(ctx context.Context, socket string) error {
	client, err := locks.Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer client.Close() // gives back what is still held
	if err := client.Lock(ctx, "/data/1"); err != nil {
		return err
	}
	fmt.Println("locked from outside the job")
	return client.Unlock("/data/1")
}

// Thresholds for this machine and this use: one acquisition in ten writes.
func ExampleTune() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		tuning, err := locks.Tune(ctx, w, locks.TuneOptions{Writers: 0.1, Rounds: 5})
		if err != nil {
			return err
		}
		l, err := locks.AllocRMARW(ctx, w, tuning.RMARW)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("measured:", len(tuning.Trials) > 0)
		}
		return countUnder(ctx, w, l)
	})
	// Output:
	// measured: true
	// 2 PEs have counted
}
