package notify_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

// Each PE sends its number to the next one, around the ring, and waits for the number of the one before.
func Example() {
	const greeting = 7
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		numbers, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		me, n := w.PE(), w.NPEs()
		before, next := (me+n-1)%n, (me+1)%n
		arrived := notify.New(w, before, greeting, 1)
		arrived.Start()

		mine := int64(me)
		numbers.At(0).PutNotify(next, &mine, greeting)

		status, err := arrived.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println(numbers.Local()[0] == int64(before), status.Bytes)
		return nil
	})
	// Output: true 8
}
