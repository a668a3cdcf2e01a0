package locks_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Accounts that any PE may change, each under a lock of its own that lives where the account does.
func ExampleAllocTable() {
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		const accounts = 8
		table, err := locks.AllocTable(ctx, w, accounts, locks.TableOptions{})
		if err != nil {
			return err
		}
		balance, err := pgas.Alloc[int64](ctx, w, accounts)
		if err != nil {
			return err
		}
		for i := range accounts {
			lock, home := table.Lock(i), table.Home(i)
			if err := lock.Lock(ctx); err != nil {
				return err
			}
			balance.At(i).Put(home, balance.At(i).Get(home)+10)
			lock.Unlock() // the next holder sees what was put
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("account 5 is on PE", table.Home(5), "and has", balance.At(5).Get(table.Home(5)))
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// account 5 is on PE 1 and has 40
}
