package dsm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// The members of a Run fill their parts of an array, meet, and read their neighbours' parts.
func Example() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 20})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[float64](ctx, r, 1000)
		if err != nil {
			return err
		}
		return r.Run(ctx, 2, func(ctx context.Context, m dsm.Member) error {
			lo, hi := m.Share(a.Len())
			mine := a.Overwrite(lo, hi)
			for i := range mine {
				mine[i] = float64(lo + i)
			}
			if err := m.Barrier(ctx); err != nil {
				return err
			}
			var sum float64
			for _, v := range a.View(0, a.Len()) {
				sum += v
			}
			total, err := m.Sum(ctx, sum)
			if err == nil && m.ID() == 0 {
				fmt.Println(m.N(), "members:", total[0])
			}
			return err
		})
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 4 members: 1.998e+06
}

// PEs add to a count in coherent memory under a lock.
func ExampleMutex() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Soft})
		if err != nil {
			return err
		}
		count, err := dsm.Alloc[int](ctx, r, 1)
		if err != nil {
			return err
		}
		l, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		if err != nil {
			return err
		}
		m, err := dsm.NewMutex(ctx, r, l, 0)
		if err != nil {
			return err
		}
		if err := m.Lock(ctx); err != nil {
			return err
		}
		count.Set(0, count.At(0)+1)
		m.Unlock()
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(count.At(0))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 3
}

// A Notice travels in any way. PE 0 sends it behind a signal.
func ExampleRegion_NoticeOf() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Notices: 8, Mode: dsm.Soft})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int](ctx, r, 10)
		if err != nil {
			return err
		}
		message, err := pgas.Alloc[byte](ctx, w, 1024)
		if err != nil {
			return err
		}
		signal, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			a.Set(3, 7)
			n, err := r.Release(ctx)
			if err != nil {
				return err
			}
			b := n.Bytes()
			message.Range(0, len(b)).PutSignal(1, b, pgas.SignalOf(signal, 0), 1)
			return r.Barrier(ctx)
		}
		if _, err := pgas.SignalOf(signal, 0).WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		n, err := r.NoticeOf(message.Local())
		if err != nil {
			return err
		}
		r.Acquire(n)
		fmt.Println(a.At(3))
		return r.Barrier(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 7
}
