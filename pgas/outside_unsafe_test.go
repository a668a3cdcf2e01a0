//go:build cgo

package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/ucx/engine/outsidetest"
)

// TestOutside: a thread of each PE that is not Go's reads a PE of the other host while Go collects garbage, with one
// processor of Go. The job closes in order although nothing ends the way but Close.
func TestOutside(t *testing.T) {
	pgastest.RunHosts(t, 4, 2, outsideOnHosts, "GOMAXPROCS=1")
}

func outsideOnHosts(ctx context.Context, w *pgas.World) error {
	const words, rounds = 64 << 10, 100
	data, err1 := pgas.Alloc[uint64](ctx, w, words)
	raised, err2 := pgas.Alloc[uint64](ctx, w, 1)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	mine := data.Local()
	outsidetest.Fill(unsafe.Slice((*byte)(unsafe.Pointer(&mine[0])), 8*words), w.PE())
	address, _, err := w.Outside()
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	thread, err := outsidetest.Start(outsidetest.Work{
		Address: address, PE: (w.PE() + 2) % 4, Data: data.All().Offset(), Bytes: 8 * words, Word: raised.All().Offset(), Rounds: rounds,
	})
	if err != nil {
		return err
	}
	for thread.Rounds() < rounds && ctx.Err() == nil {
		runtime.GC()
		// Linux 6.18 may give no CPU time to the other host's group beside a thread that never sleeps.
		time.Sleep(time.Millisecond)
	}
	result, err := thread.Wait(ctx)
	if err == nil && result != (outsidetest.Result{Rounds: rounds}) {
		err = fmt.Errorf("the thread has done %+v", result)
	}
	return err
}

// TestOutsideOnOneHost: where all heaps are mapped there is no way, and none is needed.
func TestOutsideOnOneHost(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(_ context.Context, w *pgas.World) error {
		address, end, err := w.Outside()
		if err := errors.Join(err, end()); address != 0 || err != nil {
			return fmt.Errorf("on one host: address %#x, error %v", address, err)
		}
		if err := w.Close(); err != nil {
			return err
		}
		if _, _, err := w.Outside(); err == nil {
			return errors.New("after Close: no error")
		}
		return nil
	})
}
