package notify

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const (
	mayKeep   = 1000 // PGAS_NOTES_MAX of these tests
	tooMany   = mayKeep + 8000
	keepsFew  = "PGAS_NOTES_MAX=1000"
	impatient = "PGAS_PEER_TIMEOUT=2s"
)

// flood sends pe more notes than it may keep, and returns the error of a Quiet after them.
func flood(ctx context.Context, w *pgas.World, pe int) error {
	for i := range tooMany {
		w.Notify(pe, i)
	}
	return w.Quiet(ctx)
}

// drain takes all notes that have come and returns their number.
func drain(ctx context.Context, w *pgas.World) (n int, err error) {
	r := New(w, Any, Any, 1)
	for {
		if _, ok := Probe(w, Any, Any); !ok {
			return n, nil
		}
		r.Start()
		if _, err := r.Wait(ctx); err != nil {
			return n, err
		}
		n++
	}
}

// checkFull checks that err names the PE that keeps too many notes, and the remedy.
func checkFull(err error, pe, target int) error {
	var full *pgas.NotesError
	if !errors.As(err, &full) || full.PE != pe || full.Target != target || full.Kept != mayKeep {
		return fmt.Errorf("the error is %w (%+v), want one of PE %d with %d notes, on its way to PE %d", err, full, pe, mayKeep, target)
	}
	if s := err.Error(); !strings.Contains(s, "notify.Request") || target >= 0 && !strings.Contains(s, fmt.Sprintf("no room for a notification at PE %d", target)) {
		return fmt.Errorf("the error says too little: %s", s)
	}
	return nil
}

// TestFloodBothWays: two PEs that only send to each other both end with an error that names the other, and can go
// on once they take the notes that have come.
func TestFloodBothWays(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		other, told := 1-w.PE(), pgas.AtomicOf(mem, 0)
		if err := checkFull(flood(ctx, w, other), w.PE(), other); err != nil {
			return err
		}
		if n := w.NoteQueue().Kept(); n > mayKeep {
			return fmt.Errorf("%d notes are kept", n)
		}
		told.Set(other, 1)
		_ = w.Quiet(ctx)             // it is told, and fails as all waits do
		for told.Fetch(w.PE()) < 1 { // polls: a wait of the runtime would fail
			runtime.Gosched()
		}
		n, err := drain(ctx, w)
		if err != nil || n < mayKeep {
			return fmt.Errorf("%d notes could be taken after the flood: %w", n, err)
		}
		if err := w.Barrier(ctx); err != nil {
			return fmt.Errorf("after the notes were taken: %w", err)
		}
		_, err = drain(ctx, w)
		return err
	}
	pgastest.RunProcesses(t, 2, body, keepsFew, impatient)
	pgastest.RunHosts(t, 2, 2, body, keepsFew, impatient)
}

// TestFloodOneWay: a PE that gets too many notes while it waits for something else ends with an error that names
// it, and the sender goes on when the notes are taken. None is lost.
func TestFloodOneWay(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		ready := pgas.SignalOf(words, 0)
		if w.PE() == 0 {
			if err := flood(ctx, w, 1); err != nil {
				return err
			}
			ready.Set(1, 1)
			return w.Barrier(ctx)
		}
		if _, err := ready.WaitUntil(ctx, pgas.EQ, 1); checkFull(err, 1, -1) != nil {
			return checkFull(err, 1, -1)
		}
		behind := New(w, 0, tooMany-1, 1) // its note cannot come before others are taken
		behind.Start()
		if _, err := behind.Wait(ctx); checkFull(err, 1, -1) != nil {
			return checkFull(err, 1, -1)
		}
		behind.Cancel()
		all := New(w, 0, Any, tooMany)
		if err := startThenWait(ctx, all); err != nil {
			return err
		}
		if _, err := ready.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		return w.Barrier(ctx)
	}
	pgastest.RunProcesses(t, 2, body, keepsFew, impatient)
	pgastest.RunHosts(t, 2, 2, body, keepsFew, impatient)
}

func startThenWait(ctx context.Context, r *Request) error {
	r.Start()
	_, err := r.Wait(ctx)
	return err
}

// TestPushedBack: a PE that takes its notes late keeps no more than it may, and gets every one of them in order.
func TestPushedBack(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		const n = 20 * mayKeep
		if w.PE() == 0 {
			for i := range n {
				w.Notify(1, i)
			}
			return w.Barrier(ctx)
		}
		r, never := New(w, 0, Any, 1), New(w, 0, MaxTag, 1)
		for i := range n {
			if i%500 == 0 { // a probe for a note that does not come takes those that have
				if Probe(w, 0, MaxTag); w.NoteQueue().Kept() > mayKeep {
					return fmt.Errorf("%d notes are kept", w.NoteQueue().Kept())
				}
				never.Start()
				never.Test()
				never.Cancel()
			}
			r.Start()
			if s, err := r.Wait(ctx); err != nil || s.Tag != i {
				return fmt.Errorf("note %d is %+v: %w", i, s, err)
			}
		}
		return w.Barrier(ctx)
	}
	pgastest.RunProcesses(t, 2, body, keepsFew)
	pgastest.RunHosts(t, 2, 2, body, keepsFew)
}

// TestUnexpectedDoNotGrow: memory does not grow with the notes that come and go while there is always one that
// no request asks for.
func TestUnexpectedDoNotGrow(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		w.Notify(0, 2)
		r := New(w, 0, 1, 1)
		for range 50_000 {
			w.Notify(0, 1)
			Probe(w, 0, 3) // no request asks for either
			r.Start()
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		if n := cap(matcherOf(w).queue); n > 100 {
			return fmt.Errorf("for 2 notes at a time there is room for %d", n)
		}
		_, err := drain(ctx, w)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
