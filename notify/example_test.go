package notify_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
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

// onPEs runs body on some PEs of this process.
func onPEs(npes int, body pgastest.Body) {
	if err := pgastest.Goroutines(context.Background(), npes, pgastest.Options{}, body); err != nil {
		fmt.Println(err)
	}
}

// send makes every PE but 0 put a number to PE 0, and notify it with its own PE as the tag.
func send(w *pgas.World, words pgas.Sym[int64]) {
	v := int64(10 * w.PE())
	if w.PE() > 0 {
		words.At(w.PE()).PutNotify(0, &v, w.PE())
	}
}

// PE 0 wakes once, when all others have written.
func ExampleRequest_counting() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		send(w, words)
		if w.PE() > 0 {
			return nil
		}
		all := notify.New(w, notify.Any, notify.Any, w.NPEs()-1)
		all.Start()
		if _, err := all.Wait(ctx); err != nil {
			return err
		}
		fmt.Println(words.Local())
		return nil
	})
	// Output: [0 10 20 30]
}

// A persistent request: it is made once, and started for each row.
func ExampleRequest_Start() {
	const row = 1
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		r := notify.New(w, 0, row, 1)
		for i := range 3 {
			if w.PE() == 0 {
				w.Notify(1, row)
				continue
			}
			r.Start()
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
			fmt.Println("row", i)
		}
		r.Free()
		return nil
	})
	// Output:
	// row 0
	// row 1
	// row 2
}

// A PE computes until the notification has arrived.
func ExampleRequest_Test() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			w.Notify(1, 5)
			return nil
		}
		r := notify.New(w, 0, 5, 1)
		r.Start()
		status, ok := r.Test()
		for !ok {
			w.Yield() // or a piece of work
			status, ok = r.Test()
		}
		fmt.Println("from PE", status.Source, "with tag", status.Tag)
		return nil
	})
	// Output: from PE 0 with tag 5
}

// Every notification that arrives, in a loop.
func ExampleRequest_Arrivals() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		send(w, words)
		if w.PE() > 0 {
			return nil
		}
		sum, left := int64(0), w.NPEs()-1
		for status, err := range notify.New(w, notify.Any, notify.Any, 1).Arrivals(ctx) {
			if err != nil {
				return err
			}
			sum += words.Local()[status.Source]
			if left--; left == 0 {
				break
			}
		}
		fmt.Println("sum", sum)
		return nil
	})
	// Output: sum 60
}

// A request that is not to be waited for any more.
func ExampleRequest_Cancel() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			w.Notify(1, 1)
			return w.Barrier(ctx)
		}
		if err := w.Barrier(ctx); err != nil { // the notification has arrived
			return err
		}
		r := notify.New(w, 0, 1, 3)
		r.Start()
		fmt.Println("taken before the end:", r.Cancel())
		return nil
	})
	// Output: taken before the end: 1
}

// requests makes one request for each other PE, and starts it.
func requests(w *pgas.World) []*notify.Request {
	var rs []*notify.Request
	for pe := 1; pe < w.NPEs(); pe++ {
		r := notify.New(w, pe, pe, 1)
		r.Start()
		rs = append(rs, r)
	}
	return rs
}

// The first of several requests that is complete.
func ExampleWaitAny() {
	onPEs(3, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 2 {
			w.Notify(0, 2)
		}
		if w.PE() > 0 {
			return nil
		}
		i, status, err := notify.WaitAny(ctx, requests(w)...)
		if err != nil {
			return err
		}
		fmt.Println("request", i, "by PE", status.Source)
		return nil
	})
	// Output: request 1 by PE 2
}

// All requests that are complete, one at least, in each step.
func ExampleWaitSome() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		if w.PE() > 0 {
			w.Notify(0, w.PE())
			return nil
		}
		rs := requests(w)
		var done []int
		for len(done) < len(rs) {
			var err error
			if done, err = notify.WaitSome(ctx, rs, done); err != nil {
				return err
			}
		}
		slices.Sort(done)
		fmt.Println(done)
		return nil
	})
	// Output: [0 1 2]
}

// Several requests until all are complete.
func ExampleWaitAll() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		send(w, words)
		if w.PE() > 0 {
			return nil
		}
		if err := notify.WaitAll(ctx, requests(w)...); err != nil {
			return err
		}
		fmt.Println(words.Local())
		return nil
	})
	// Output: [0 10 20 30]
}

// What has arrived without a request for it.
func ExampleProbeWait() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			w.Notify(1, 9)
			return nil
		}
		status, err := notify.ProbeWait(ctx, w, notify.Any, notify.Any)
		if err != nil {
			return err
		}
		r := notify.New(w, status.Source, status.Tag, 1) // which takes it
		r.Start()
		_, complete := r.Test()
		_, more := notify.Probe(w, notify.Any, notify.Any)
		fmt.Println("tag", status.Tag, "complete:", complete, "more:", more)
		return nil
	})
	// Output: tag 9 complete: true more: false
}

// A source counted in a team: the even PEs of the job.
func ExampleNewIn() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		even, err := w.Team().SplitStrided(ctx, 0, 2, 2)
		if err != nil || even == nil {
			return err
		}
		if even.PE() == 1 {
			w.Notify(0, 3) // PE 2 of the job to PE 0
			return nil
		}
		r := notify.NewIn(even, 1, 3, 1)
		r.Start()
		status, err := r.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println("from PE", status.Source, "of the team")
		return nil
	})
	// Output: from PE 1 of the team
}
