package containers_test

// What PEs record of waits in containers: the container's call and the program's line, in place of "wait" for a word.

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/trace"
)

// TestCauses: a PE that another one keeps waiting in a container is blocked in that call, at the line of the program.
func TestCauses(t *testing.T) {
	const computes = time.Second
	for call, body := range map[string]func(ctx context.Context, w *pgas.World) (late, waiting func() error, err error){
		"Queue.Pop": func(ctx context.Context, w *pgas.World) (late, waiting func() error, err error) {
			q, err := containers.NewQueue[int](ctx, w, 4)
			return func() error { return q.Push(ctx, 1) }, func() error { _, err := q.Pop(ctx); return err }, err
		},
		"Queue.Push": func(ctx context.Context, w *pgas.World) (late, waiting func() error, err error) {
			q, err := containers.NewQueue[int](ctx, w, 1, containers.Home(1))
			if err == nil && w.PE() == 0 {
				err = q.Push(ctx, 1)
			}
			return func() error { _, err := q.Pop(ctx); return err }, func() error { return q.Push(ctx, 2) }, err
		},
		"Mailbox.Flush": func(ctx context.Context, w *pgas.World) (late, waiting func() error, err error) {
			box, err := containers.NewMailbox(ctx, w, func(int, []int) error { return nil })
			flush := func() error { return box.Flush(ctx) }
			return flush, flush, err
		},
		"WorkPool.Run": func(ctx context.Context, w *pgas.World) (late, waiting func() error, err error) {
			p, err := containers.NewWorkPool[int](ctx, w, 8)
			run := func() error { return p.Run(ctx, func(context.Context, int, func(int)) error { return nil }) }
			return run, run, err
		},
	} {
		t.Run(call, func(t *testing.T) {
			var file bytes.Buffer
			_, err := sim.Run(t.Context(), sim.Config{Topology: "host:1", Timeline: &file}, 2, func(ctx context.Context, w *pgas.World) error {
				late, waiting, err := body(ctx, w)
				if err != nil {
					return err
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				if w.PE() == 0 {
					return waiting()
				}
				if err := w.Sleep(ctx, computes); err != nil {
					return err
				}
				return late()
			})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			counts := tr.PEs[0].Counts
			if got := counts.Waits[call].Time; got < computes*9/10 {
				t.Errorf("PE 0 was blocked in %s for %v: %v", call, got, counts.Waits)
			}
			at := time.Duration(0)
			for line, w := range counts.Lines {
				if strings.HasPrefix(line, call+" at containers/causes_test.go:") {
					at += w.Time
				}
			}
			if at < computes*9/10 {
				t.Errorf("PE 0 was blocked in %s at lines of this file for %v: %v", call, at, counts.Lines)
			}
		})
	}
}
