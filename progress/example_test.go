package progress_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/progress"
)

// One bar for all PEs on a terminal, and lines now and then elsewhere. A job that is over at once, as this one, shows
// none.
func ExampleNew() {
	const rows = 3000
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		lo, hi := w.Team().Share(rows)
		p, err := progress.New(ctx, w, "rows", hi-lo) // what this PE is going to do; the bar has the sum
		if err != nil {
			return err
		}
		sum := 0
		for row := lo; row < hi; row++ {
			sum += row
			p.Add(1) // counts in this PE's own memory: PE 0 reads it when it draws
		}
		if err := p.End(ctx); err != nil {
			return err
		}
		all, err := pgas.SumValue(ctx, w.Team(), sum)
		if w.PE() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 4498500
}
