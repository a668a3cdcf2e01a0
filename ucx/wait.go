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

// EventFD is a descriptor that becomes readable when the worker has something to do, once Arm has
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

// Signal makes the event descriptor readable, which ends a Wait of another goroutine. It needs
// FeatureWakeup, and may be called by any goroutine while the worker is open.
func (w *Worker) Signal() error {
	if err := w.ctx.need("signal", FeatureWakeup, "FeatureWakeup"); err != nil {
		return err
	}
	if err := w.open("signal"); err != nil {
		return err
	}
	defer w.unlock()
	if st := Status(C.gx_signal(w.c)); st != OK {
		return &Error{Op: "signal", Status: st}
	}
	return nil
}

// Wait makes progress until something has happened on the worker or Signal was called, and returns
// ctx's error if that does not happen in time.
func (w *Worker) Wait(ctx context.Context) error { return w.await(ctx, nil, 0) }

// await makes progress until the operation of s is over, or without one until anything happened.
func (w *Worker) await(ctx context.Context, s *slot, gen uint32) error {
	for round := 0; ; round++ {
		done, err := w.spin(s, gen)
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if round < spinRounds {
			runtime.Gosched()
			continue
		}
		slept, err := w.sleep()
		if err != nil {
			return err
		}
		if slept && s == nil {
			// Awake again: by an event, which the next spin collects, or by Signal, which leaves
			// nothing to collect.
			_, err := w.spin(nil, 0)
			return err
		}
	}
}

// spin makes progress for a short time, and reports whether the wait is over.
func (w *Worker) spin(s *slot, gen uint32) (bool, error) {
	if err := w.open("wait"); err != nil {
		return false, err
	}
	defer w.unlock()
	var c *C.gx_slot
	if s != nil {
		if s.gen.Load() != gen {
			return true, nil
		}
		if s.complete() {
			return true, nil
		}
		c = s.c
	}
	n := int(C.gx_progress_until(w.c, c, C.uint32_t(spinTime)))
	w.progressed(n)
	if s != nil {
		return s.complete(), nil
	}
	return n > 0, nil
}

// sleep waits for an event, and reports whether there was one. The lock is not held meanwhile.
func (w *Worker) sleep() (bool, error) {
	if err := w.open("wait"); err != nil {
		return false, err
	}
	if w.c.efd < 0 {
		w.unlock()
		C.gx_doze(C.uint32_t(dozeTime))
		return false, nil
	}
	if st := Status(C.gx_arm(w.c)); st != OK {
		w.unlock()
		if st == ErrBusy {
			return false, nil
		}
		return false, &Error{Op: "wait", Status: st}
	}
	efd := w.c.efd
	w.sleepers++
	w.unlock()
	n := C.gx_wait_efd(efd, C.int32_t(sleepTime/time.Millisecond))
	w.lock()
	w.sleepers--
	w.unlock()
	if n < 0 {
		return false, &Error{Op: "wait", Status: Status(n)}
	}
	return n > 0, nil
}
