package sim_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/trace"
)

// runTimeline runs body with a timeline, and returns what that says.
func runTimeline(t *testing.T, cfg sim.Config, npes int, body sim.Body) (*trace.Trace, trace.Summary) {
	t.Helper()
	var file bytes.Buffer
	cfg.Timeline = &file
	if _, err := sim.Run(context.Background(), cfg, npes, body); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return tr, tr.Summarize()
}

// TestTimelineNamesTheLate: a PE that computes for long is what the others wait for, it is on the critical path, and
// times are virtual.
func TestTimelineNamesTheLate(t *testing.T) {
	const late, computes = 5, 3 * time.Second
	tr, s := runTimeline(t, sim.Config{Topology: "host:2"}, 8, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == late {
			r := w.Region(ctx, "solve")
			if err := w.Sleep(ctx, computes); err != nil {
				return err
			}
			r.End()
		}
		return w.Barrier(ctx)
	})
	if !tr.Virtual || s.Elapsed < computes || s.Elapsed > computes+time.Second || len(s.Hosts) != 4 {
		t.Errorf("the run took %v of virtual time on %d hosts", s.Elapsed, len(s.Hosts))
	}
	if len(s.LateSenders) < 7 {
		t.Fatalf("late are %+v", s.LateSenders)
	}
	for _, l := range s.LateSenders[:7] {
		if l.PE != late || l.In != "barrier" || l.Time < computes*9/10 {
			t.Errorf("late is %+v", l)
		}
	}
	if c := s.Critical; len(c.ByPE) == 0 || c.ByPE[0].PE != late || c.ByPE[0].Share < 0.9 || len(c.ByRegion) != 1 || c.ByRegion[0].Region != "solve" {
		t.Errorf("the critical path is %+v", c)
	}
}

// TestTimelineChain: a value that is handed from PE to PE makes a critical path over all of them, in their order.
func TestTimelineChain(t *testing.T) {
	const npes = 5
	_, s := runTimeline(t, sim.Config{}, npes, func(ctx context.Context, w *pgas.World) error {
		sig, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		data, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		me := w.PE()
		if me > 0 {
			if _, err := pgas.SignalOf(sig, 0).WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
		}
		if err := w.Sleep(ctx, time.Second); err != nil {
			return err
		}
		if me < npes-1 {
			v := int64(me)
			data.At(0).PutSignal(me+1, &v, pgas.SignalOf(sig, 0), 1)
		}
		return nil
	})
	var order []int
	for _, step := range s.Critical.Steps {
		if step.Time > time.Second/2 {
			order = append(order, step.PE)
		}
	}
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("the long steps of the critical path are on PEs %v", order)
	}
	for i := range npes - 1 {
		if s.Operations[i][i+1] != 1 || s.Bytes[i][i+1] != 16 {
			t.Errorf("PE %d has done %d operations on the next, of %d bytes", i, s.Operations[i][i+1], s.Bytes[i][i+1])
		}
	}
}

// TestTimelineLock: each of three PEs holds a lock for a second, so the last waits for two.
func TestTimelineLock(t *testing.T) {
	_, s := runTimeline(t, sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		l := pgas.LockOf(locks, 0)
		if err := l.Lock(ctx); err != nil {
			return err
		}
		if err := w.Sleep(ctx, time.Second); err != nil {
			return err
		}
		return l.Unlock()
	})
	if len(s.Locks) != 1 {
		t.Fatalf("the locks are %+v", s.Locks)
	}
	l := s.Locks[0]
	about := func(got, want time.Duration) bool { return got > want*9/10 && got < want*11/10 }
	if l.Held != 3 || l.PEs != 3 || l.Waits != 2 || !about(l.Holding, 3*time.Second) || !about(l.Waiting, 3*time.Second) || !about(l.Longest, 2*time.Second) {
		t.Errorf("the lock was used so: %+v", l)
	}
	if c := s.Critical.ByPE; len(c) != 3 || !about(c[2].Time, time.Second) {
		t.Errorf("the critical path is on %+v", c)
	}
}

// TestTimelineOfMany: a thousand PEs have a timeline, of a bounded number of events.
func TestTimelineOfMany(t *testing.T) {
	const npes = 1000
	tr, s := runTimeline(t, sim.Config{Topology: "host:16", TimelineEvents: 40}, npes, func(ctx context.Context, w *pgas.World) error {
		for range 10 {
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if len(tr.PEs) != npes || s.Operations != nil || s.Dropped == 0 {
		t.Errorf("%d PEs, %d events dropped", len(tr.PEs), s.Dropped)
	}
	for i := range tr.PEs {
		if n := len(tr.PEs[i].Slices) + len(tr.PEs[i].Points); n == 0 || n > 40 {
			t.Fatalf("PE %d has %d events", i, n)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestTimelineErrors: a timeline that cannot be had or written is an error of the run.
func TestTimelineErrors(t *testing.T) {
	nothing := func(context.Context, *pgas.World) error { return nil }
	if _, err := sim.Run(context.Background(), sim.Config{Timeline: io.Discard, TimelineEvents: -1}, 2, nothing); err == nil {
		t.Error("-1 events can be had")
	}
	if _, err := sim.Run(context.Background(), sim.Config{Timeline: fullDisk{}}, 2, nothing); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writing to a full disk: %v", err)
	}
}
