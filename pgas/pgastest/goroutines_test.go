package pgastest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// TestPEContexts: the contexts of PEs end with the one that they are made of, and are as it is but for its lock. What
// the lock would hide from the race detector is in tests/races.
func TestPEContexts(t *testing.T) {
	type key struct{}
	over := errors.New("over")
	deadline := time.Now().Add(time.Hour)
	ctx, stop := context.WithDeadline(context.WithValue(t.Context(), key{}, 7), deadline)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	own, end := peContexts(ctx, 3)
	for _, c := range own {
		if at, ok := c.Deadline(); !ok || !at.Equal(deadline) || c.Value(key{}) != 7 || c.Err() != nil {
			t.Errorf("deadline %v, value %v, error %v", at, c.Value(key{}), c.Err())
		}
	}
	cancel(over)
	for _, c := range own {
		derived, free := context.WithCancel(c)
		defer free()
		<-derived.Done()
		if context.Cause(derived) != over {
			t.Errorf("the cause is %v, want %v", context.Cause(derived), over)
		}
	}
	end()

	own, end = peContexts(t.Context(), 1)
	end()
	if own[0].Err() == nil || t.Context().Err() != nil {
		t.Error("the context of a PE has not ended with the job, or has ended what it was made of")
	}
}

// TestRacesOfFailingBody: a program that notices its wrong data has the race in its error, too. A fence is missing in
// it, which Go's detector does not see below PGAS_CHECK=race: operations are carried out at their call there.
func TestRacesOfFailingBody(t *testing.T) {
	wrong := errors.New("the data is wrong")
	body := func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		flag := pgas.AtomicOf(words, 1)
		if w.PE() == 0 {
			words.At(0).Put(1, 7)
			flag.Set(1, 1) //pgasvet:ok the missing fence is the race
			return w.Quiet(ctx)
		}
		if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		words.At(0).Get(1)
		return wrong
	}
	for kind, err := range map[string]error{
		"goroutines":     Goroutines(t.Context(), 2, Options{Races: true}, body),
		"a late network": Late(t.Context(), 2, 2, Options{Races: true}, body),
	} {
		var races *RacesError
		if !errors.Is(err, wrong) || !errors.As(err, &races) {
			t.Errorf("with %s the error is %v, want the body's and a race", kind, err)
		}
	}
}
