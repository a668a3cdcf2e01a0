package locks_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Each file is a number in this example, and its name is a lock: many read a file at once, one writes it.
func ExampleService() {
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		svc, err := locks.NewService(ctx, w, locks.ServiceOptions{})
		if err != nil {
			return err
		}
		files, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		for i := range files.Len() {
			name := fmt.Sprint("/data/", i)
			if err := svc.Lock(ctx, name); err != nil {
				return err
			}
			files.At(i).Put(0, files.At(i).Get(0)+1)
			svc.Unlock(name) // the next holder sees what was put
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := svc.RLock(ctx, "/data/1"); err != nil {
			return err
		}
		n := files.At(1).Get(0)
		svc.RUnlock("/data/1")
		if w.PE() == 0 {
			fmt.Println("file 1 was written", n, "times; names in use:", len(svc.InUse()))
		}
		return svc.Free(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// file 1 was written 4 times; names in use: 0
}
