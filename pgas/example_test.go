package pgas_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Every PE writes its square into the memory of the next PE. A program does this in pgas.Main and is
// started by pgasrun; in this example the PEs are four goroutines.
func Example() {
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		squares, err := pgas.Alloc[int](ctx, w, 1)
		if err != nil {
			return err
		}
		next := (w.PE() + 1) % w.NPEs()
		squares.At(0).Put(next, w.PE()*w.PE())
		if err := w.Barrier(ctx); err != nil { // the puts of all PEs are complete
			return err
		}
		if w.PE() == 0 {
			for pe := range w.NPEs() {
				fmt.Println("PE", pe, "holds", squares.At(0).Get(pe))
			}
		}
		return squares.Free(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0 holds 9
	// PE 1 holds 0
	// PE 2 holds 1
	// PE 3 holds 4
}

// A remote counter: each PE draws a ticket from PE 0.
func ExampleAtomic_FetchAdd() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		counter := pgas.AtomicOf(words, 0)
		if ticket := counter.FetchAdd(0, 1); ticket < 0 || ticket > 2 {
			return fmt.Errorf("ticket %d", ticket)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(counter.Fetch(0), "tickets drawn")
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 3 tickets drawn
}

// Data, then a signal: a target that sees the signal sees the data.
func ExampleSlice_PutSignal() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		row, err := pgas.Alloc[float64](ctx, w, 3)
		if err != nil {
			return err
		}
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		ready := pgas.SignalOf(signals, 0)
		if w.PE() == 0 {
			row.All().PutSignal(1, []float64{1, 2, 3}, ready, 1)
			return w.Barrier(ctx)
		}
		if _, err := ready.WaitUntil(ctx, pgas.GE, 1); err != nil {
			return err
		}
		fmt.Println(row.Local())
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [1 2 3]
}

// A program that is started without a launcher is a job of one PE.
func ExampleInit() {
	os.Setenv("PGAS_QUIET_SINGLETON", "1") // or it says so on stderr
	defer os.Unsetenv("PGAS_QUIET_SINGLETON")
	w, err := pgas.Init(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	fmt.Println("PE", w.PE(), "of", w.NPEs())
	// Output: PE 0 of 1
}

// A column of a matrix that lies in rows is a strided range: one call moves it, and to another host one
// message.
func ExampleSlice_IPut() {
	const rows, columns = 3, 4
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		matrix, err := pgas.Alloc[int](ctx, w, rows*columns)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			matrix.Range(2, rows*columns).IPut(1, []int{7, 8, 9}, columns, 1, rows) // column 2 of PE 1
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			for mine := matrix.Local(); len(mine) > 0; mine = mine[columns:] {
				fmt.Println(mine[:columns])
			}
		}
		return matrix.Free(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0 0 7 0]
	// [0 0 8 0]
	// [0 0 9 0]
}
