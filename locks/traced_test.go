package locks_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/trace"
)

// TestTraced: each of three PEs holds a lock for a while of virtual time, and the trace says so of every kind of lock:
// held for three times as long, waited for by two PEs, by one of them for twice as long.
func TestTraced(t *testing.T) {
	const while = 10 * time.Millisecond
	about := func(got, want time.Duration) bool { return got > want*9/10 && got < want*11/10 }
	for _, c := range withoutServer() {
		t.Run(c.Type, func(t *testing.T) {
			var file bytes.Buffer
			_, err := sim.Run(context.Background(), sim.Config{Timeline: &file}, 3, func(ctx context.Context, w *pgas.World) error {
				l, _, err := c.Alloc(ctx, w, kinds.Options{})
				if err != nil {
					return err
				}
				if err := l.Lock(ctx); err != nil {
					return err
				}
				if err := w.Sleep(ctx, while); err != nil {
					return err
				}
				l.Unlock()
				return w.Barrier(ctx)
			})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			all := tr.Summarize().Locks
			if len(all) != 1 {
				t.Fatalf("the locks are %+v", all)
			}
			if l := all[0]; l.Held != 3 || l.PEs != 3 || l.Waits != 2 || !about(l.Holding, 3*while) || !about(l.Waiting, 3*while) || !about(l.Longest, 2*while) || !strings.Contains(l.Lock, " at offset ") {
				t.Errorf("the lock was used so: %+v", l)
			}
		})
	}
}
