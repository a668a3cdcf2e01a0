package notify_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestOneMessage: in the simulator a notified put between hosts takes as long as one message, and the put
// with a flag behind it at least twice as long.
func TestOneMessage(t *testing.T) {
	const v = int64(1)
	took := map[string]time.Duration{}
	_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		r, flag, one := notify.New(w, 0, 1, 1), pgas.AtomicOf(mem, 1), v
		for _, c := range []struct {
			name string
			send func() error
			wait func() error
		}{
			{"notified", func() error { mem.At(0).PutNotify(1, &one, 1); return nil }, func() error { return startAndWait(ctx, r) }},
			{"flag", func() error {
				mem.At(0).Put(1, v)
				if err := w.Quiet(ctx); err != nil {
					return err
				}
				flag.Set(1, v)
				return nil
			}, func() error { _, err := flag.WaitUntil(ctx, pgas.EQ, v); return err }},
		} {
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if err := w.Sleep(ctx, time.Millisecond-w.Now()%time.Millisecond); err != nil { // together
				return err
			}
			start := w.Now()
			if w.PE() == 0 {
				err = c.send()
			} else {
				err = c.wait()
				took[c.name] = w.Now() - start
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	link := sim.Aries.Network[0].Latency.Duration() + sim.Aries.Overhead.Duration()
	if n := took["notified"]; n < link || n > 2*link || 2*n > took["flag"] {
		t.Errorf("a notified put took %v, a put with a flag %v, a message takes %v", n, took["flag"], link)
	}
}
