package pgas_test

// An example of each concept of the package. A program would do this in pgas.Main, started by pgasrun; in the examples
// the PEs are goroutines of the test process. Only one PE of each example prints, so that the order is known.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// examplePEs runs body on some PEs of this process.
func examplePEs(npes int, body pgastest.Body) {
	if err := pgastest.Goroutines(context.Background(), npes, pgastest.Options{}, body); err != nil {
		fmt.Println(err)
	}
}

// An allocation is a collective call: every PE gets as many elements, at the same offset of its heap.
func ExampleAlloc() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 3)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(words.Len(), "elements on each of", w.NPEs(), "PEs:", words.Local())
		}
		return words.Free(ctx)
	})
	// Output: 3 elements on each of 2 PEs: [0 0 0]
}

// A get reads the memory of another PE, which takes no part in it.
func ExampleSlice_Get() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 4)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			words.Range(1, 3).Put(1, []int{10, 20}) // elements 1 and 2 of PE 1
			if err := w.Quiet(ctx); err != nil {    // the put is complete at PE 1
				return err
			}
			all := make([]int, 4)
			words.All().Get(1, all)
			fmt.Println(all)
		}
		return words.Free(ctx)
	})
	// Output: [0 10 20 0]
}

// PutNB returns before the source has been read. The LocalCompletion tells when the program may change the source;
// the data is complete at the target after a Quiet.
func ExampleSlice_PutNB() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 2)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			src := []int{1, 2}
			sent := words.All().PutNB(1, src)
			if err := sent.Wait(ctx); err != nil {
				return err
			}
			src[0], src[1] = 0, 0 // does not change what PE 1 gets
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Println(words.Local())
		}
		return words.Free(ctx)
	})
	// Output: [1 2]
}

// Ptr gives the memory of a PE of the same host as a Go slice.
func ExampleSlice_Ptr() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 3)
		if err != nil {
			return err
		}
		for i := range words.Local() {
			words.Local()[i] = 100*w.PE() + i
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			if remote := words.All().Ptr(1); remote != nil { // nil if PE 1 is on another host
				fmt.Println(remote)
			}
		}
		return words.Free(ctx)
	})
	// Output: [100 101 102]
}

// A context is an ordering domain. Its Fence orders the data before the flag; its Quiet completes both.
func ExampleContext_Fence() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		data, flag := words.At(0), pgas.AtomicOf(words, 1)
		if w.PE() == 0 {
			c, err := w.NewContext(pgas.Private())
			if err != nil {
				return err
			}
			data.On(c).Put(1, 42)
			c.Fence()
			flag.On(c).Set(1, 1)
			if err := errors.Join(c.Quiet(ctx), c.Close()); err != nil {
				return err
			}
		} else {
			if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
			fmt.Println("data:", *data.Local())
		}
		return words.Free(ctx)
	})
	// Output: data: 42
}

// A session tells a context that many small operations follow, so that they travel to other hosts in fewer messages.
func ExampleContext_StartSession() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		count := pgas.AtomicOf(words, 0)
		c := w.Context()
		c.StartSession(pgas.Batch(), pgas.TotalOps(1000))
		for range 1000 {
			count.Inc(0)
		}
		c.EndSession()
		if err := w.Barrier(ctx); err != nil { // completes what the session issued
			return err
		}
		if w.PE() == 0 {
			fmt.Println(count.Fetch(0))
		}
		return words.Free(ctx)
	})
	// Output: 2000
}

// Fetching atomics that do not wait share one Quiet.
func ExampleAtomic_FetchAddNB() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 3)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			var old [3]int64
			for i := range old {
				a := pgas.AtomicOf(words, i)
				a.Add(1, int64(10*i))
				a.FetchAddNB(1, 1, &old[i])
			}
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			fmt.Println(old)
		}
		return words.Free(ctx)
	})
	// Output: [0 10 20]
}

// Floating-point words can be added to atomically.
func ExampleAtomicFloat_Add() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[float64](ctx, w, 1)
		if err != nil {
			return err
		}
		sum := pgas.AtomicFloatOf(words, 0)
		sum.Add(0, 0.25)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(sum.Fetch(0))
		}
		return words.Free(ctx)
	})
	// Output: 1
}

// Signals that count: the waiter waits until all others have added to its signal.
func ExampleSignalRef_WaitUntil() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		ready := pgas.SignalOf(signals, 0)
		if w.PE() == 0 {
			n, err := ready.WaitUntil(ctx, pgas.EQ, 3)
			if err != nil {
				return err
			}
			fmt.Println(n, "PEs are ready")
		} else {
			ready.Add(0, 1)
		}
		return signals.Free(ctx)
	})
	// Output: 3 PEs are ready
}

// A notified put: the target waits for data by source PE and tag, with package notify, and needs no flag.
func ExampleSlice_PutNotify() {
	const tag = 5
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 3)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			words.All().PutNotify(1, []int{1, 2, 3}, tag)
			return w.Barrier(ctx)
		}
		arrived := notify.New(w, 0, tag, 1)
		arrived.Start()
		status, err := arrived.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println(status.Bytes, "bytes:", words.Local())
		return w.Barrier(ctx)
	})
	// Output: 24 bytes: [1 2 3]
}

// A WaitSet waits for any of many words, here for each once: Except excludes those that it has returned.
func ExampleWaitSet_Except() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		if w.PE() > 0 {
			pgas.AtomicOf(words, w.PE()).Set(0, int64(w.PE()*w.PE()))
			return words.Free(ctx)
		}
		set, seen := pgas.AtomicsOf(words.All()).Until(pgas.NE, 0), make([]bool, w.NPEs())
		seen[0] = true // word 0 is this PE's own
		var sum int64
		for range w.NPEs() - 1 {
			pe, v, err := set.Except(seen).WaitAny(ctx)
			if err != nil {
				return err
			}
			seen[pe], sum = true, sum+v
		}
		fmt.Println(sum)
		return words.Free(ctx)
	})
	// Output: 14
}

// Words of 16 bits can be waited for too.
func ExampleShort_WaitUntil() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int16](ctx, w, 1)
		if err != nil {
			return err
		}
		flag := pgas.ShortOf(words, 0)
		if w.PE() == 0 {
			flag.Put(1, -7)
		} else {
			v, err := flag.WaitUntil(ctx, pgas.LT, 0)
			if err != nil {
				return err
			}
			fmt.Println(v)
		}
		return words.Free(ctx)
	})
	// Output: -7
}

// The PEs of even and of odd numbers are a team each.
func ExampleTeam_SplitColor() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		t, err := w.Team().SplitColor(ctx, w.PE()%2, w.PE())
		if err != nil {
			return err
		}
		if w.PE() == 3 {
			fmt.Println("PE 3 is number", t.PE(), "of", t.NPEs(), "and number 0 is PE", t.WorldPE(0))
		}
		return t.Destroy(ctx)
	})
	// Output: PE 3 is number 1 of 2 and number 0 is PE 1
}

// A grid of PEs: a team for each row and one for each column.
func ExampleTeam_Split2D() {
	examplePEs(6, func(ctx context.Context, w *pgas.World) error {
		row, column, err := w.Team().Split2D(ctx, 3)
		if err != nil {
			return err
		}
		if w.PE() == 4 {
			fmt.Printf("PE 4 is at (%d, %d) of a grid of %d×%d\n", row.PE(), column.PE(), row.NPEs(), column.NPEs())
		}
		return errors.Join(row.Destroy(ctx), column.Destroy(ctx))
	})
	// Output: PE 4 is at (1, 1) of a grid of 3×2
}

// The members of a team that are on one host are a team.
func ExampleTeam_SplitHost() {
	examplePEs(3, func(ctx context.Context, w *pgas.World) error {
		host, err := w.Team().SplitHost(ctx)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(host.NPEs(), "PEs on this host")
		}
		return host.Destroy(ctx)
	})
	// Output: 3 PEs on this host
}

// Member 0 sends its elements to all members.
func ExampleBroadcast() {
	examplePEs(3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 4)
		if err != nil {
			return err
		}
		dst, src := words.Range(0, 2), words.Range(2, 4)
		if w.PE() == 0 {
			copy(src.Local(), []int{7, 8})
		}
		if err := pgas.Broadcast(ctx, w.Team(), dst, src, 0); err != nil {
			return err
		}
		if w.PE() == 2 {
			fmt.Println(dst.Local())
		}
		return words.Free(ctx)
	})
	// Output: [7 8]
}

// Every member gets the elements of all members, in the order of the team.
func ExampleFCollect() {
	examplePEs(3, func(ctx context.Context, w *pgas.World) error {
		src, err := pgas.Alloc[int](ctx, w, 1)
		if err != nil {
			return err
		}
		dst, err := pgas.Alloc[int](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		src.Local()[0] = 10 * w.PE()
		if err := pgas.FCollect(ctx, w.Team(), dst.All(), src.All()); err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Println(dst.Local())
		}
		return w.Barrier(ctx)
	})
	// Output: [0 10 20]
}

// Member i sends j+1 elements to each member j.
func ExampleAllToAllV() {
	examplePEs(2, func(ctx context.Context, w *pgas.World) error {
		src, err := pgas.Alloc[int](ctx, w, 3)
		if err != nil {
			return err
		}
		dst, err := pgas.Alloc[int](ctx, w, 4)
		if err != nil {
			return err
		}
		me := w.PE()
		copy(src.Local(), []int{10 * me, 10*me + 1, 10*me + 2})
		from := pgas.Blocks{Displs: []int{0, 1}, Counts: []int{1, 2}}
		to := pgas.Blocks{Displs: []int{0, me + 1}, Counts: []int{me + 1, me + 1}}
		if err := pgas.AllToAllV(ctx, w.Team(), dst.All(), to, src.All(), from); err != nil {
			return err
		}
		if me == 1 {
			fmt.Println(dst.Local())
		}
		return w.Barrier(ctx)
	})
	// Output: [1 2 11 12]
}

// The sum over all members, element by element. dst and src may be the same range.
func ExampleSumReduce() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 2)
		if err != nil {
			return err
		}
		copy(words.Local(), []int{1, w.PE()})
		if err := pgas.SumReduce(ctx, w.Team(), words.All(), words.All()); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(words.Local())
		}
		return words.Free(ctx)
	})
	// Output: [4 6]
}

// An exclusive scan gives each member the place of its first element in a common sequence.
func ExampleSumExscan() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 2)
		if err != nil {
			return err
		}
		count, first := words.Range(0, 1), words.Range(1, 2)
		count.Local()[0] = 10 + w.PE()
		if err := pgas.SumExscan(ctx, w.Team(), first, count); err != nil {
			return err
		}
		if w.PE() == 3 {
			fmt.Println("PE 3 begins at", first.Local()[0])
		}
		return words.Free(ctx)
	})
	// Output: PE 3 begins at 33
}

// A non-blocking collective: the program computes while it makes progress.
func ExampleRequest_Wait() {
	examplePEs(3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int](ctx, w, 1)
		if err != nil {
			return err
		}
		words.Local()[0] = w.PE()
		r := pgas.MaxReduceNB(ctx, w.Team(), words.All(), words.All())
		other := 6 * 7 // does not touch words
		if err := r.Wait(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(words.Local()[0], other)
		}
		return words.Free(ctx)
	})
	// Output: 2 42
}

// A lock of the job protects plain data. Unlock completes the puts of the default context first.
func ExampleLockRef_Lock() {
	examplePEs(4, func(ctx context.Context, w *pgas.World) error {
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		words, err := pgas.Alloc[int](ctx, w, 1)
		if err != nil {
			return err
		}
		lock, balance := pgas.LockOf(locks, 0), words.At(0)
		if err := lock.Lock(ctx); err != nil {
			return err
		}
		balance.Put(0, balance.Get(0)+10)
		if err := lock.Unlock(); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(balance.Get(0))
		}
		return w.Barrier(ctx)
	})
	// Output: 40
}

// The topology tells which PEs share a host.
func ExampleWorld_Topology() {
	examplePEs(3, func(ctx context.Context, w *pgas.World) error {
		tree, err := w.Topology(ctx)
		if err != nil {
			return err
		}
		host, err := tree.Level("host")
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(slices.Contains(tree.Names(), "host"), host.Elements(), host.Members(0))
		}
		return w.Barrier(ctx)
	})
	// Output: true 1 [0 1 2]
}

// What can block takes a context. A wait that can never end returns its cause, and names the word.
func ExampleAtomic_WaitUntil() {
	examplePEs(1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		_, err = pgas.AtomicOf(words, 0).WaitUntil(short, pgas.EQ, 1)
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		return words.Free(ctx)
	})
	// Output: true
}

// Misuse of the package panics with *UsageError, as an index out of range does.
func ExampleUsageError() {
	examplePEs(1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		defer func() {
			misuse, ok := recover().(*pgas.UsageError)
			fmt.Println(ok, misuse.Op)
		}()
		words.All().Put(0, []int64{1, 2}) // two elements into a range of one
		return nil
	})
	// Output: true Put
}
