// Command waits has PE 0 wait for a word that PE 1 sets late, and everyone for the barrier behind it. With an argument,
// PE 2 comes late to the barrier, and nobody waits for a word.
package main

import (
	"context"
	"os"
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
		switch late := len(os.Args) > 1; {
		case late && w.PE() == 2:
			time.Sleep(300 * time.Millisecond)
		case late:
		case w.PE() == 0:
			if _, err := word.WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
		case w.PE() == 1:
			time.Sleep(500 * time.Millisecond)
			word.Set(0, 1)
		}
		return w.Barrier(ctx)
	})
}
