package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestQuietInBody: with the context of the body, whose quiets are inlined, a quiet returns what others return: nothing,
// the error that a fence has left, the cause of the context's end, and why the World or the pgas.Context is closed.
func TestQuietInBody(t *testing.T) {
	t.Setenv("PGAS_CHECK", "0")
	pgastest.RunGoroutines(t, 2, func(_ context.Context, w *pgas.World) error {
		ctx, end := pgas.BodyContext()
		own, err := w.NewContext()
		if err != nil {
			return err
		}
		left, cause := errors.New("left by a fence"), errors.New("end of the body")
		for _, step := range []struct {
			name  string
			do    func() error
			quiet func(context.Context) error
			want  error
		}{
			{"at first", nil, w.Quiet, nil},
			{"a context at first", nil, own.Quiet, nil},
			{"after an error of another context", func() error { pgas.LeaveError(w.Context(), left); return nil }, own.Quiet, nil},
			{"after an error", nil, w.Quiet, left},
			{"after that", nil, w.Quiet, left},
			{"of a team whose context is of the same domain", nil, w.SharedTeam().Context().Quiet, left},
			{"of a closed context", own.Close, own.Quiet, errClosedContext},
			{"after the end", func() error { end(cause); return nil }, w.Quiet, cause},
		} {
			if step.do != nil {
				if err := step.do(); err != nil {
					return fmt.Errorf("%s: %w", step.name, err)
				}
			}
			if err := step.quiet(ctx); !isOrSays(err, step.want) {
				return fmt.Errorf("a quiet %s: %v instead of %v", step.name, err, step.want)
			}
		}
		if p, _ := recoveredFrom(w, w.MustQuiet); p == nil || !isOrSays(p.(error), left) {
			return fmt.Errorf("a MustQuiet after an error panics with %v", p)
		}
		other, err := w.NewContext()
		if err != nil {
			return err
		}
		other.MustQuiet()
		lost := &pgas.PeerError{PE: 1}
		pgas.LeaveError(other, fmt.Errorf("a put: %w", lost))
		for range 2 { // each is told
			if p, _ := recoveredFrom(w, other.MustQuiet); p != any(lost) {
				return fmt.Errorf("a MustQuiet after the loss of a PE panics with %v, and not with the *PeerError itself", p)
			}
		}
		alive, _ := pgas.BodyContext()
		if err := w.Close(); !isOrSays(err, left) && !errors.Is(err, lost) {
			return fmt.Errorf("closing a World of which two contexts have lost something: %v", err)
		}
		if p, _ := recoveredFrom(w, w.MustQuiet); p == nil || !errors.Is(p.(error), pgas.ErrClosed) {
			return fmt.Errorf("a MustQuiet of a closed World panics with %v", p)
		}
		if err := w.Quiet(alive); !errors.Is(err, pgas.ErrClosed) {
			return fmt.Errorf("a quiet of a closed World: %v", err)
		}
		return nil
	})
}

var errClosedContext = errors.New("the context is closed: use it before its Close, and before that of its World")

func isOrSays(err, want error) bool {
	return errors.Is(err, want) || err != nil && want != nil && strings.HasSuffix(err.Error(), want.Error())
}

// TestZeroQuietIsExplained: what Recovered says of a quiet of nothing, with the context of the body.
func TestZeroQuietIsExplained(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(_ context.Context, w *pgas.World) error {
		ctx, _ := pgas.BodyContext()
		for want, call := range map[string]func(){
			"Quiet at pgas/quiet_test.go:89: a nil or zero World":   func() { (*pgas.World)(nil).Quiet(ctx) },
			"Quiet at pgas/quiet_test.go:90: a nil or zero Context": func() { (*pgas.Context)(nil).Quiet(ctx) },
			"a nil or zero Context":                                 func() { new(pgas.Context).Quiet(ctx) },
		} {
			if _, err := recoveredFrom(w, call); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%v, and not %q", err, want)
			}
		}
		return nil
	})
}
