// Command survivors shows what PEs can do after the last PE has failed: compute, and access the memory of those that
// are left. What has to wait for another PE returns the error, whichever PE that is.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
)

func main() { pgas.Main(body) }

func body(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 3)
	if err != nil {
		return err
	}
	last := w.NPEs() - 1
	if w.PE() == last {
		os.Exit(3)
	}
	for i := range 2 { // nobody sets it: this waits for the failure, and then for none
		var lost *pgas.PeerError
		if _, err := pgas.AtomicOf(words, i).WaitUntil(ctx, pgas.EQ, 7); !errors.As(err, &lost) || lost.PE != last {
			return fmt.Errorf("a wait for PE %d returned %w", (w.PE()+1)%last, err)
		}
	}
	next := (w.PE() + 1) % last
	words.At(2).Put(next, 5)
	if err := w.Quiet(ctx); err != nil || words.At(2).Get(next) != 5 {
		return fmt.Errorf("the memory of PE %d is out of reach: %w", next, err)
	}
	fmt.Printf("PE %d went on, until ctx: %v\n", w.PE(), ctx.Err())
	return nil
}
