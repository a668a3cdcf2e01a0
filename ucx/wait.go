//go:build cgo

package ucx

// Waiting. A wait spins for a short time inside C, gives the processor away between spins, and then
// sleeps on the worker's event descriptor. It returns to Go at least every few milliseconds, so that it
// can be cancelled.

/*
#cgo noescape gx_progress_until
#cgo nocallback gx_progress_until
#cgo noescape gx_arm
#cgo nocallback gx_arm
#cgo noescape gx_wait_efd
#cgo nocallback gx_wait_efd
#cgo noescape gx_doze
#cgo nocallback gx_doze
#include "shim.h"
*/
import "C"

import (
	"context"
	"runtime"
	"time"
)

const (
	spinTime   = 20 * time.Microsecond
	spinRounds = 4                    // spins before the first sleep
	sleepTime  = 5 * time.Millisecond // longest sleep on the event descriptor
	dozeTime   = 50 * time.Microsecond
)

// EventFD returns a descriptor that becomes readable when the worker has something to do, once Arm has
// returned nil. It needs FeatureWakeup. It belongs to the worker: do not read or close it, poll it.
func (w *Worker) EventFD() (int, error) {
	if err := w.ctx.need("event descriptor", FeatureWakeup, "FeatureWakeup"); err != nil {
		return -1, err
	}
	if err := w.open("event descriptor"); err != nil {
		return -1, err
	}
	defer w.unlock()
	return int(w.c.efd), nil
}

// Arm makes the event descriptor ready to report the next event. It returns ErrBusy when there is one
// already: make progress until there is nothing to do, and arm again.
func (w *Worker) Arm() error {
	if err := w.ctx.need("arm", FeatureWakeup, "FeatureWakeup"); err != nil {
		return err
	}
	if err := w.open("arm"); err != nil {
		return err
	}
	defer w.unlock()
	if st := Status(C.gx_arm(w.c)); st != OK {
		return &Error{Op: "arm", Status: st}
	}
	return nil
}

// Signal ends the Waits that other goroutines are in, and makes the event descriptor readable. It needs
// FeatureWakeup, and fails with ErrInvalidParam without.
func (w *Worker) Signal() error {
	if err := w.ctx.need("signal", FeatureWakeup, "FeatureWakeup"); err != nil {
		return err
	}
	if err := w.open("signal"); err != nil {
		return err
	}
	defer w.unlock()
	w.events++
	if st := Status(C.gx_signal(w.c)); st != OK {
		return &Error{Op: "signal", Status: st}
	}
	return nil
}

// Wait makes progress until something has happened on the worker since the call, by this goroutine's
// progress or another's, or Signal was called. It returns ctx's error if that takes too long.
func (w *Worker) Wait(ctx context.Context) error {
	if err := w.open("wait"); err != nil {
		return err
	}
	g := goal{events: w.events}
	w.unlock()
	return w.await(ctx, g)
}

// goal is what a wait is for: the end of an operation, a message in an inbox, or else any event.
type goal struct {
	s      *slot
	gen    uint32
	in     *Inbox
	events uint64 // events of the worker when the wait began
}

// met reports whether the wait is over. The worker is locked.
func (g goal) met(w *Worker) bool {
	switch {
	case g.s != nil:
		return g.s.gen.Load() != g.gen || g.s.complete()
	case g.in != nil:
		return g.in.c == nil || g.in.c.head != nil
	}
	return w.events != g.events
}

// await makes progress until the goal is met.
func (w *Worker) await(ctx context.Context, g goal) error {
	for round := 0; ; round++ {
		if done, err := w.spin(g); done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if round < spinRounds {
			runtime.Gosched()
		} else if err := w.sleep(g); err != nil {
			return err
		}
	}
}

// spin makes progress for a short time, and reports whether the wait is over.
func (w *Worker) spin(g goal) (bool, error) {
	if err := w.open("wait"); err != nil {
		return false, err
	}
	defer w.unlock()
	if g.met(w) {
		return true, nil
	}
	var c *C.gx_slot
	if g.s != nil {
		c = g.s.c
	}
	w.progressed(int(C.gx_progress_until(w.c, c, C.uint32_t(spinTime))))
	return g.met(w), nil
}

// sleep waits for an event. The lock is not held meanwhile.
func (w *Worker) sleep(g goal) error {
	if err := w.open("wait"); err != nil {
		return err
	}
	if g.met(w) {
		w.unlock()
		return nil
	}
	if w.c.efd < 0 {
		w.unlock()
		C.gx_doze(C.uint32_t(dozeTime))
		return nil
	}
	if st := Status(C.gx_arm(w.c)); st != OK {
		w.unlock()
		if st == ErrBusy {
			return nil
		}
		return &Error{Op: "wait", Status: st}
	}
	efd := w.c.efd
	w.sleepers++
	w.unlock()
	n := C.gx_wait_efd(efd, C.int32_t(sleepTime/time.Millisecond))
	w.lock()
	w.sleepers--
	w.unlock()
	if n < 0 {
		return &Error{Op: "wait", Status: Status(n)}
	}
	return nil
}
