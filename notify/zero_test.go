package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestZeroRequestsAreMisuse: a zero request panics with a *UsageError, and so does a wait with a nil context.Context.
func TestZeroRequestsAreMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		var none context.Context
		r, zero := notify.New(w, 0, 1, 1), new(notify.Request)
		r.Start()
		for i, c := range []struct {
			want string
			run  func()
		}{
			{"context.Context is nil", func() { r.Wait(none) }},
			{"context.Context is nil", func() { r.Arrivals(none) }},
			{"context.Context is nil", func() { notify.WaitAny(none, r) }},
			{"context.Context is nil", func() { notify.WaitSome(none, []*notify.Request{r}, nil) }},
			{"context.Context is nil", func() { notify.WaitAll(none, r) }},
			{"context.Context is nil", func() { notify.ProbeWait(none, w, 0, 1) }},
			{"zero Request", func() { zero.Start() }},
			{"zero Request", func() { zero.Test() }},
			{"zero Request", func() { zero.Wait(ctx) }},
			{"zero Request", func() { zero.Status() }},
			{"zero Request", func() { zero.Cancel() }},
			{"zero Request", func() { zero.Free() }},
			{"zero Request", func() { zero.Arrivals(ctx) }},
			{"zero Request", func() { notify.WaitAny(ctx, zero) }},
			{"zero Request", func() { notify.TestAny(r, nil) }},
			{"zero Request", func() { notify.WaitAll(ctx, r, zero) }},
			{"zero World", func() { notify.New(nil, 0, 1, 1) }},
			{"zero World", func() { notify.Probe(nil, 0, 1) }},
		} {
			if err := panics(c.run); err == nil || !strings.Contains(err.Error(), c.want) {
				return fmt.Errorf("call %d: got %v, want %q", i, err, c.want)
			}
		}
		r.Cancel()
		return nil
	})
}
