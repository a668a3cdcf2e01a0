package main

// Bodies for a job of which some PEs are stopped. Each PE says that it is ready, goes on until it knows that another PE
// is lost, and says which.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// shared is what the PEs operate on.
type shared struct {
	words pgas.Sym[int64]
	lock  pgas.LockRef
}

// waits of a silent job, by name. Each returns when a PE is lost.
var silentWaits = map[string]func(ctx context.Context, w *pgas.World, s shared) error{
	"barrier": func(ctx context.Context, w *pgas.World, _ shared) error { return barriers(ctx, w) },
	"word":    awaitWord,
	"context": func(ctx context.Context, w *pgas.World, s shared) error {
		if w.PE() == w.NPEs()-1 {
			return awaitWord(ctx, w, s)
		}
		<-ctx.Done()
		return context.Cause(ctx)
	},
	"put": func(ctx context.Context, w *pgas.World, s shared) error {
		for {
			for pe := range w.NPEs() {
				s.words.At(1).Put(pe, 1)
			}
			if err := w.Quiet(ctx); err != nil {
				return err
			}
		}
	},
	"lock": func(ctx context.Context, _ *pgas.World, s shared) error {
		for {
			if err := s.lock.Lock(ctx); err != nil {
				return err
			}
			if err := s.lock.Unlock(); err != nil {
				return err
			}
		}
	},
	"compute": func(ctx context.Context, w *pgas.World, _ shared) error {
		const longer = 3 * time.Second // than a PE may be silent
		for start := time.Now(); time.Since(start) < longer; {
		}
		return barriers(ctx, w)
	},
}

func awaitWord(ctx context.Context, _ *pgas.World, s shared) error {
	_, err := pgas.AtomicOf(s.words, 0).WaitUntil(ctx, pgas.NE, 0)
	return err
}

func barriers(ctx context.Context, w *pgas.World) error {
	for {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
}

// silent waits in the way that the second argument names.
func silent(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 8)
	if err != nil {
		return err
	}
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Printf("PE %d is ready in process %d\n", w.PE(), os.Getpid())
	err = silentWaits[os.Args[2]](ctx, w, shared{words, pgas.LockOf(locks, 0)})
	if lost := (*pgas.PeerError)(nil); errors.As(err, &lost) {
		fmt.Printf("PE %d has lost PE %d: %v\n", w.PE(), lost.PE, err)
	}
	return err
}
