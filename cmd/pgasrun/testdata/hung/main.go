// Command hung never ends. Its argument says why:
//
//	late    the last PE computes for ever, the others wait for it in a barrier
//	asleep  the same, but it sleeps
//	locks   each PE has a lock and waits for that of the next
//	word    the last PE waits for a word that nobody sets, the others wait for it in a barrier
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
)

func main() { pgas.Main(body) }

// table has a lock for each PE, all of them on PE 0.
const table = 64

func body(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, table)
	if err != nil {
		return err
	}
	if len(os.Args) < 2 {
		return fmt.Errorf("say how: late, asleep, locks or word")
	}
	fmt.Printf("PE %d has begun <b>%s</b>\n", w.PE(), os.Args[1])
	last := w.PE() == w.NPEs()-1
	switch {
	case os.Args[1] == "late" && last:
		for ctx.Err() == nil {
		}
	case os.Args[1] == "asleep" && last:
		<-ctx.Done()
	case os.Args[1] == "word" && last:
		_, err = pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
	case os.Args[1] == "locks":
		err = cross(ctx, w, locks)
	}
	if err != nil {
		return err
	}
	return w.Barrier(ctx)
}

// cross takes this PE's lock, and when all have theirs, that of the next PE.
func cross(ctx context.Context, w *pgas.World, locks pgas.Sym[pgas.Lock]) error {
	if err := pgas.LockOf(locks, w.PE()%table).Lock(ctx); err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return pgas.LockOf(locks, (w.PE()+1)%w.NPEs()%table).Lock(ctx)
}
