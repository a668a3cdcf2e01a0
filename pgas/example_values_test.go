package pgas_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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

// One number in, the sum out, on every PE.
func ExampleSumValue() {
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		wrong := w.PE() // what this PE has found
		all, err := pgas.SumValue(ctx, w.Team(), wrong)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(all, "are wrong")
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 6 are wrong
}

// The place of the least value: a struct and a function that compares.
func ExampleReduce1() {
	type place struct {
		value float64
		pe    int
	}
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		mine := place{value: float64((w.PE() + 1) % 3), pe: w.PE()}
		least, err := pgas.Reduce1(ctx, w.Team(), mine, func(a, b place) place {
			if b.value < a.value || b.value == a.value && b.pe < a.pe {
				return b
			}
			return a
		})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("PE", least.pe, "has", least.value)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 2 has 0
}

// What each PE has found, however much it is, on PE 0.
func ExampleGather() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var found []int
		for i := range w.PE() {
			found = append(found, 10*w.PE()+i)
		}
		all, err := pgas.Gather(ctx, w.Team(), found, 0)
		if err != nil {
			return err
		}
		for pe, found := range all { // on PE 0 only
			fmt.Println("PE", pe, found)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0 []
	// PE 1 [10]
	// PE 2 [20 21]
}

// PE 0 reads the settings, and all have them.
func ExampleBroadcastSlice() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var settings []byte
		if w.PE() == 0 {
			settings = []byte("rows=100")
		}
		settings, err := pgas.BroadcastSlice(ctx, w.Team(), settings, 0)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Printf("PE 1 has %s\n", settings)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 1 has rows=100
}

// Two goroutines of each PE: the first error of either would end the other and come out of Wait.
func ExampleWorld_Go() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		tell := func(ctx context.Context) error {
			pgas.AtomicOf(words, 0).Set(1-w.PE(), 1)
			return nil
		}
		hear := func(ctx context.Context) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
			return err
		}
		if err := w.Go(ctx, tell, hear).Wait(); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("PE 0 has heard of PE 1")
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 0 has heard of PE 1
}

// One bar for all PEs on a terminal, and lines now and then elsewhere; a job that is over at once, as this one, shows none.
func ExampleWorld_Progress() {
	const rows = 3000
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		lo, hi := w.Team().Share(rows)
		p, err := w.Progress(ctx, "rows", hi-lo) // what this PE is going to do; the bar has the sum
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

// The lines of one file, each read by one PE.
func ExampleReadShare() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lines")
	if err := os.WriteFile(path, []byte("a\nfew\nlines\nof\ntext\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	err = pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		file, err := pgas.ReadShare(ctx, w.Team(), path, pgas.Lines)
		if err != nil {
			return err
		}
		defer file.Close()
		letters := 0
		for _, line := range file.All() {
			letters += len(line)
		}
		if err := file.Err(); err != nil {
			return err
		}
		letters, err = pgas.SumValue(ctx, w.Team(), letters)
		if err == nil && w.PE() == 0 {
			fmt.Println(letters, "letters")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 15 letters
}
