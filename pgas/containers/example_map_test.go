package containers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/containers"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// All PEs insert their part of a table, and then all look into it. Between the two promises nobody needs to see what another has
// inserted, so inserts travel many in a message.
func ExampleMap_OnlyInserts() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		squares, err := containers.NewMap[int, int](ctx, w, containers.Capacity(1000))
		if err != nil {
			return err
		}
		if err := squares.OnlyInserts(ctx); err != nil {
			return err
		}
		for i := w.PE(); i < 1000; i += w.NPEs() {
			if _, err := squares.Insert(ctx, i, i*i); err != nil {
				return err
			}
		}
		if err := squares.OnlyFinds(ctx); err != nil { // now all are there, for all PEs
			return err
		}
		if w.PE() == 0 {
			fmt.Println(squares.Find(999))
		}
		return squares.Free(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 998001 true
}
