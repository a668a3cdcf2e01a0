package main

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/messages"
)

// BenchmarkReceive measures the defaults of -receive and -note: what 16 messages, or 16 notifications
// and one request, take a PE at which all of them have arrived.
func BenchmarkReceive(b *testing.B) {
	const children = 16
	b.Run("message", func(b *testing.B) {
		arrived(b, children, func(ctx context.Context, w *pgas.World) (send, receive func() error, err error) {
			window, err := pgas.Alloc[float64](ctx, w, children)
			if err != nil {
				return nil, nil, err
			}
			comm, err := messages.Open(ctx, w, window.All(), messages.Options{Slots: slots})
			return func() error {
					return comm.Send(ctx, 0, tag, []float64{1})
				}, func() error {
					for child := range children {
						if _, err := comm.Recv(ctx, child+1, tag, child, 1); err != nil {
							return err
						}
					}
					return nil
				}, err
		})
	})
	b.Run("note", func(b *testing.B) {
		arrived(b, children, func(ctx context.Context, w *pgas.World) (send, receive func() error, err error) {
			window, err := pgas.Alloc[float64](ctx, w, children)
			all := notify.New(w, notify.Any, tag, children)
			return func() error {
					window.Range(w.PE()-1, w.PE()).PutNotify(0, []float64{1}, tag)
					return nil
				}, func() error {
					all.Start()
					_, err := all.Wait(ctx)
					return err
				}, err
		})
	})
}

// arrived lets PEs send to PE 0, again and again, and measures what it takes to receive when all has arrived.
func arrived(b *testing.B, senders int, open func(context.Context, *pgas.World) (send, receive func() error, err error)) {
	pgastest.BenchGoroutines(b, senders+1, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		send, receive, err := open(ctx, w)
		if err != nil {
			return err
		}
		b.StopTimer()
		b.ResetTimer()
		for range b.N {
			if w.PE() != 0 {
				if err := send(); err != nil {
					return err
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if w.PE() == 0 {
				b.StartTimer()
				if err := receive(); err != nil {
					return err
				}
				b.StopTimer()
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*senders), "ns/child")
		return nil
	})
}
