package pgas_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Ten rows in blocks, one for each PE.
func ExampleTeam_Share() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() > 0 {
			return nil
		}
		for pe := range w.NPEs() {
			lo, hi := w.Team().ShareOf(pe, 10)
			fmt.Printf("PE %d has rows %d to %d\n", pe, lo, hi-1)
		}
		fmt.Println("PE", w.Team().OwnerOf(6, 10), "has row 6")
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0 has rows 0 to 2
	// PE 1 has rows 3 to 5
	// PE 2 has rows 6 to 9
	// PE 2 has row 6
}
