package containers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Four PEs save what three PEs load. In NumPy, np.load("squares.npy") is the same array.
func ExampleSaveNPY() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "squares.npy")
	err = pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		squares, err := containers.NewArray[float64](ctx, w, 100)
		if err != nil {
			return err
		}
		for i, p := range squares.LocalAll() {
			*p = float64(i * i)
		}
		return containers.SaveNPY(ctx, squares, path)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		squares, err := containers.NewArray[float64](ctx, w, 100, containers.Cyclic())
		if err != nil {
			return err
		}
		if err := containers.LoadNPY(ctx, squares, path); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(squares.Get(99))
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 9801
}
