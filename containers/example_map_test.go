package containers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// All PEs insert their part of a table, and then all look into it. Between the two promises nobody needs to see what
// another has inserted, so inserts travel many in a message.
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

// A member that finds a text has all of it, also while others replace it.
func ExampleTextMap() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		pages, err := containers.NewTextMap(ctx, w, containers.Capacity(1000), containers.TextBytes(1<<20))
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := pages.Set(ctx, "go.dev", "Build simple, secure, scalable systems with Go"); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Println(pages.Find("go.dev"))
		}
		return pages.Free(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: Build simple, secure, scalable systems with Go true
}
