package arena_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Each PE stores a text in its own memory and leaves the handle with PE 0, which reads all of them.
func Example() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		texts, err := arena.New(ctx, w, 1<<16)
		if err != nil {
			return err
		}
		list, err := pgas.Alloc[arena.Bytes](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		h, err := texts.StoreString(w.PE(), fmt.Sprintf("a text of PE %d", w.PE()))
		if err != nil {
			return err
		}
		list.At(w.PE()).Put(0, h)
		if err := w.Barrier(ctx); err != nil { // all texts and handles are there
			return err
		}
		if w.PE() == 0 {
			for _, h := range list.Local() {
				fmt.Println(texts.LoadString(h))
			}
		}
		return texts.Close(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// a text of PE 0
	// a text of PE 1
	// a text of PE 2
}
