// Command traced does what a trace shows: PE 1 computes in a region while the others wait for its signal, for its lock,
// for its notification and in a barrier. The first argument is for how long. With a second one the last PE then kills
// itself.
package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

func main() { pgas.Main(body) }

func body(ctx context.Context, w *pgas.World) error {
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	if err != nil {
		return err
	}
	signal, lock := pgas.SignalOf(signals, 0), pgas.LockOf(locks, 0)
	if w.PE() == 1 {
		if err := lock.Lock(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		err = lead(ctx, w, signal, lock)
	} else {
		err = follow(ctx, w, signal, lock)
	}
	if err != nil {
		return err
	}
	if len(os.Args) > 2 && w.PE() == w.NPEs()-1 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return w.Barrier(ctx)
}

// lead is what PE 1 does.
func lead(ctx context.Context, w *pgas.World, signal pgas.SignalRef, lock pgas.LockRef) error {
	compute(ctx, w)
	for pe := range w.NPEs() {
		signal.Set(pe, 1)
	}
	compute(ctx, w)
	if err := lock.Unlock(); err != nil {
		return err
	}
	compute(ctx, w)
	for pe := range w.NPEs() {
		if pe != w.PE() {
			w.Notify(pe, 7)
		}
	}
	compute(ctx, w)
	return nil
}

func compute(ctx context.Context, w *pgas.World) {
	defer w.Region(ctx, "compute").End()
	d, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	time.Sleep(d)
}

// follow is what the others do.
func follow(ctx context.Context, w *pgas.World, signal pgas.SignalRef, lock pgas.LockRef) error {
	if _, err := signal.WaitUntil(ctx, pgas.EQ, 1); err != nil {
		return err
	}
	if err := lock.Lock(ctx); err != nil {
		return err
	}
	if err := lock.Unlock(); err != nil {
		return err
	}
	r := notify.New(w, 1, 7, 1)
	defer r.Free()
	r.Start()
	_, err := r.Wait(ctx)
	return err
}
