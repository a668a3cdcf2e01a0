// Package requests has requests for notifications that are not started, and others that are.
package requests

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

func never(ctx context.Context, w *pgas.World) error {
	r := notify.New(w, 0, 1, 1)
	_, err := r.Wait(ctx) // want `Request.Wait of the request of line 12, which is not started: call Start before`
	return err
}

func tested(ctx context.Context, w *pgas.World) {
	r := notify.NewIn(w.Team(), 0, 1, 1)
	defer r.Free()
	w.Notify(0, 1)
	if _, ok := r.Test(); ok { // want `Request.Test of the request of line 18, which is not started`
		w.Notify(0, 2)
	}
}

// Arrivals starts the request itself.
func arrivals(ctx context.Context, w *pgas.World) error {
	for _, err := range notify.New(w, 0, 1, 1).Arrivals(ctx) {
		return err
	}
	for range 3 {
		notify.New(w, 0, 1, 1).Start()
	}
	return nil
}

func onOnePath(ctx context.Context, w *pgas.World, early bool) error {
	r := notify.New(w, 0, 1, 1)
	if early {
		r.Start()
	}
	w.Notify(0, 1)
	if !early {
		r.Start()
	}
	_, err := r.Wait(ctx)
	return err
}

func again(ctx context.Context, w *pgas.World) error {
	r := notify.New(w, 0, 1, 1)
	r.Start()
	if _, err := r.Wait(ctx); err != nil {
		return err
	}
	_, err := r.Wait(ctx) // want `Request.Wait of a request that is complete since the wait of line 53: it returns at once; call Start before`
	return err
}

func active(ctx context.Context, w *pgas.World) error {
	r := notify.New(w, 0, 1, 1)
	r.Start()
	w.Notify(0, 1)
	r.Start() // want `Request.Start of a request that is active since line 62: wait for it before`
	_, err := r.Wait(ctx)
	return err
}

// An error leaves the request active.
func untilItComes(ctx context.Context, w *pgas.World, limit func() context.Context) {
	r := notify.New(w, 0, 1, 1)
	r.Start()
	for {
		if _, err := r.Wait(limit()); err == nil {
			break
		}
	}
	for range 3 {
		r.Start()
		for {
			if _, ok := r.Test(); ok {
				break
			}
			w.Yield()
		}
	}
	r.Free()
}

func each(ctx context.Context, w *pgas.World) error {
	for pe := range w.NPEs() {
		r := notify.New(w, pe, 1, 1)
		r.Start()
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
		r.Free()
	}
	return nil
}

func elsewhere(ctx context.Context, w *pgas.World) error {
	r := notify.New(w, 0, 1, 1)
	start := func() { r.Start() }
	start()
	_, err := r.Wait(ctx)
	return err
}

func several(ctx context.Context, w *pgas.World) error {
	a, b := notify.New(w, 0, 1, 1), notify.New(w, 1, 1, 1)
	a.Start()
	return notify.WaitAll(ctx, a, b) // want `notify.WaitAll of the request of line [0-9]+, which is not started`
}

func severalStarted(ctx context.Context, w *pgas.World) error {
	a, b := notify.New(w, 0, 1, 1), notify.New(w, 1, 1, 1)
	a.Start()
	b.Start()
	if err := notify.WaitAll(ctx, a, b); err != nil {
		return err
	}
	_, _, _, err := again2(notify.WaitAny(ctx, a, b))
	return err
}

func again2(n int, s notify.Status, err error) (int, notify.Status, bool, error) {
	return n, s, true, err
}
