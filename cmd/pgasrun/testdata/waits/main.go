// Command waits has PE 0 wait for a word that PE 1 sets late, and everyone for the barrier behind it.
package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		word := pgas.AtomicOf(words, 0)
		switch w.PE() {
		case 0:
			if _, err := word.WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
		case 1:
			time.Sleep(500 * time.Millisecond)
			word.Set(0, 1)
		}
		return w.Barrier(ctx)
	})
}
