package coherent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopgas/gopgas/coherent"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Each PE follows links through an array that all have made together. What it reads of other PEs' shares stays with it,
// so that following the same links again moves nothing.
func Example() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		r, err := open(ctx, w)
		if err != nil {
			return err
		}
		next, err := coherent.New[int](ctx, w, r, 1000)
		if err != nil {
			return err
		}
		for i, p := range next.LocalAll() {
			*p = (i + 377) % next.Len()
		}
		if err := r.Barrier(ctx); err != nil { // all see all
			return err
		}
		steps := 1
		for i := next.At(0); i != 0; i = next.At(i) {
			steps++
		}
		if w.PE() == 2 {
			fmt.Println("back after", steps, "steps")
		}
		return r.Close(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: back after 1000 steps
}
