package dsm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestTransfersPaged: slices of a region are sources and destinations of puts and gets, whether their pages are there
// or not, with one processor of Go, while Go collects garbage.
func TestTransfersPaged(t *testing.T) {
	needsPaging(t)
	pgastest.RunProcesses(t, 2, transfers)
	pgastest.RunHosts(t, 2, 2, transfers, "GOMAXPROCS=1")
}

// half is the elements of one PE: more than a put or a get copies at a time.
const half = 150_000

type transferTest struct {
	w      *pgas.World
	to     int
	mine   []int64 // this PE's part of the region
	theirs []int64 // the other PE's part: without a valid copy after each barrier
	heap   pgas.Sym[int64]
	signal pgas.SignalRef
}

func transfers(ctx context.Context, w *pgas.World) error {
	r, err := dsm.Open(ctx, w, dsm.Options{Mode: dsm.Paged, Bytes: 2*8*half + 1<<20})
	if err != nil {
		return err
	}
	a, err1 := dsm.Alloc[int64](ctx, r, 2*half)
	heap, err2 := pgas.Alloc[int64](ctx, w, half)
	signals, err3 := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	me, all := w.PE(), a.Slice()
	x := &transferTest{w, 1 - me, all[me*half:][:half], all[(1-me)*half:][:half], heap, pgas.SignalOf(signals, 0)}
	stop := make(chan struct{})
	defer close(stop)
	go collect(stop)
	for round, n := range []int{3, 5000, half} {
		for i, op := range transferOps {
			first := int64(1000*round+10*i) << 32
			for k := range n {
				x.mine[k] = first + int64(me)<<24 + int64(k)
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
			if err := x.transfer(ctx, op, n, first+int64(1-me)<<24, r); err != nil {
				return fmt.Errorf("%s of %d elements: %w", op.name, n, err)
			}
		}
	}
	return r.Close(ctx)
}

// collect collects garbage until stop is closed.
func collect(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			runtime.GC()
		}
	}
}

// transfer puts what the other PE has written back to its heap, and gets that from there into this PE's part, from
// where the other PE reads it by page faults.
func (x *transferTest) transfer(ctx context.Context, op transferOp, n int, first int64, r *dsm.Region) error {
	if err := op.put(ctx, x, n); err != nil {
		return err
	}
	if err := x.w.Barrier(ctx); err != nil {
		return err
	}
	op.get(x, n)
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	for k, v := range x.mine[:n] {
		if v != first+int64(k) {
			return fmt.Errorf("element %d is %#x after the get, want %#x", k, v, first+int64(k))
		}
	}
	own := first ^ 1<<24 // what this PE had written
	for k, v := range x.theirs[:n] {
		if v != own+int64(k) {
			return fmt.Errorf("element %d of the other PE is %#x, want %#x", k, v, own+int64(k))
		}
	}
	return r.Barrier(ctx)
}

// transferOp is a form of put from theirs to the heap of the other PE, and one of get from there to mine.
type transferOp struct {
	name string
	put  func(ctx context.Context, x *transferTest, n int) error
	get  func(x *transferTest, n int)
}

var transferOps = []transferOp{
	{"Put, Get", func(ctx context.Context, x *transferTest, n int) error {
		x.heap.All().Put(x.to, x.theirs[:n])
		return nil
	}, func(x *transferTest, n int) { x.heap.All().Get(x.to, x.mine[:n]) }},
	{"PutNB, GetNB", func(ctx context.Context, x *transferTest, n int) error {
		x.heap.All().PutNB(x.to, x.theirs[:n])
		return x.w.Quiet(ctx)
	}, func(x *transferTest, n int) { x.heap.All().GetNB(x.to, x.mine[:n]) }},
	{"IPut, IGet", func(ctx context.Context, x *transferTest, n int) error {
		x.heap.All().IPut(x.to, x.theirs[:n], 2, 2, (n+1)/2)
		x.heap.Range(1, n).IPut(x.to, x.theirs[1:n], 2, 2, n/2)
		return nil
	}, func(x *transferTest, n int) {
		x.heap.All().IGet(x.to, x.mine[:n], 2, 2, (n+1)/2)
		x.heap.Range(1, n).IGetNB(x.to, x.mine[1:n], 2, 2, n/2)
	}},
	{"PutSignal, Get", func(ctx context.Context, x *transferTest, n int) error {
		before := x.signal.Fetch()
		if err := x.w.Barrier(ctx); err != nil {
			return err
		}
		x.heap.All().PutSignalAdd(x.to, x.theirs[:n], x.signal, 1)
		_, err := x.signal.WaitUntil(ctx, pgas.EQ, before+1)
		return err
	}, func(x *transferTest, n int) { x.heap.All().Get(x.to, x.mine[:n]) }},
}
