package notify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// explore runs body in every order there is, twice: with all of them, and without those that cannot matter.
// It returns what say was called with.
func explore(t *testing.T, npes int, body func(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], say func(string)) error) []string {
	t.Helper()
	var said [2]map[string]bool
	for i, reduce := range []bool{false, true} {
		said[i] = map[string]bool{}
		_, err := sim.Explore(t.Context(), sim.Config{Reduce: reduce}, npes, func(ctx context.Context, w *pgas.World) error {
			mem, err := pgas.Alloc[int64](ctx, w, 8)
			if err != nil {
				return err
			}
			sim.Start(ctx)
			return body(ctx, w, mem, func(s string) {
				sim.Shares(ctx)
				said[i][s] = true
			})
		})
		if err != nil {
			t.Fatalf("reduce %v: %v", reduce, err)
		}
	}
	if !maps.Equal(said[0], said[1]) {
		t.Fatalf("a reduced exploration saw %v, a full one %v", said[1], said[0])
	}
	return slices.Sorted(maps.Keys(said[0]))
}

// TestNotesInOrder: the notifications of a PE on one context come in the order of their issue, each with its
// data, whatever kinds of access they are of.
func TestNotesInOrder(t *testing.T) {
	explore(t, 2, func(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], _ func(string)) error {
		if w.PE() == 0 {
			mem.At(0).PutNotify(1, ptr(int64(1)), 1)
			pgas.AtomicOf(mem, 1).Notify(2).Inc(1)
			var got int64
			mem.Range(2, 3).GetNotifyNB(1, []int64{got}, 3)
			w.Notify(1, 4)
			return w.Quiet(ctx)
		}
		r := notify.New(w, 0, notify.Any, 1)
		for tag := 1; tag <= 4; tag++ {
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			if s := r.Status(); s.Tag != tag {
				return fmt.Errorf("notification %d is %+v", tag, s)
			}
			if v := mem.Local(); v[0] != 1 || tag > 1 && v[1] != 1 {
				return fmt.Errorf("with notification %d the data is %v", tag, v)
			}
		}
		return nil
	})
}

// TestUnfencedPut: a notification proves nothing of a put without one, unless a fence stands between.
func TestUnfencedPut(t *testing.T) {
	for _, fence := range []bool{false, true} {
		said := explore(t, 2, func(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], say func(string)) error {
			if w.PE() == 0 {
				mem.At(0).Put(1, 7)
				if fence {
					w.Fence()
				}
				w.Notify(1, 1)
				return w.Quiet(ctx)
			}
			if err := startAndWait(ctx, notify.New(w, 0, 1, 1)); err != nil {
				return err
			}
			say(fmt.Sprint(mem.At(0).Get(1)))
			return nil
		})
		want := []string{"0", "7"}
		if fence {
			want = want[1:]
		}
		if !slices.Equal(said, want) {
			t.Errorf("fence %v: behind the notification there was %v, want %v", fence, said, want)
		}
	}
}

// TestProducersInAnyOrder: those of two PEs come in both orders, and a program that tests sees all there is
// to see.
func TestProducersInAnyOrder(t *testing.T) {
	said := explore(t, 3, func(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], say func(string)) error {
		if w.PE() > 0 {
			mem.At(w.PE()).PutNotify(0, ptr(int64(9)), w.PE())
			return w.Quiet(ctx)
		}
		r := notify.New(w, notify.Any, notify.Any, 1)
		r.Start()
		_, early := r.Test()
		first, err := r.Wait(ctx)
		if err != nil {
			return err
		}
		if err := startAndWait(ctx, r); err != nil {
			return err
		}
		say(fmt.Sprint(first.Tag, r.Status().Tag, early))
		if v := mem.Local(); v[1] != 9 || v[2] != 9 {
			return fmt.Errorf("both notifications are here, the data is %v", v)
		}
		return nil
	})
	if want := []string{"1 2 false", "1 2 true", "2 1 false", "2 1 true"}; !slices.Equal(said, want) {
		t.Errorf("the tags came as %v, want %v", said, want)
	}
}

// TestOldestFirst: of two requests that fit, the older one gets it, whichever is waited for, and no PE is
// left waiting.
func TestOldestFirst(t *testing.T) {
	explore(t, 2, func(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], _ func(string)) error {
		if w.PE() == 1 {
			w.Notify(0, 1)
			w.Notify(0, 1)
			w.Notify(0, 2)
			return w.Quiet(ctx)
		}
		older, younger := notify.New(w, 1, notify.Any, 2), notify.New(w, notify.Any, 1, 1)
		older.Start()
		younger.Start()
		if s, err := older.Wait(ctx); err != nil || s.Tag != 1 {
			return fmt.Errorf("the older request got %+v, %w", s, err)
		}
		if _, ok := younger.Test(); ok {
			return errors.New("the younger request took what was the older one's")
		}
		younger.Cancel()
		return startAndWait(ctx, notify.New(w, 1, 2, 1))
	})
}

// TestDeath: a PE that waits for a notification of a PE that dies learns of it, and so does a PE that has one for it,
// although its queue is full.
func TestDeath(t *testing.T) {
	cfg := sim.Config{Topology: "host:2", Deaths: []sim.Death{{PE: 1, At: 300 * time.Microsecond}}}
	ended := 0
	_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
		var err error
		switch w.PE() {
		case 0:
			err = startAndWait(ctx, notify.New(w, 1, 7, 1))
		case 1:
			return w.Sleep(ctx, time.Hour)
		case 2:
			for err == nil && w.Now() < time.Second {
				for range 1000 {
					w.Notify(1, 1)
				}
				err = w.Quiet(ctx)
			}
		}
		var peer *pgas.PeerError
		if !errors.As(err, &peer) || peer.PE != 1 {
			return fmt.Errorf("PE 1 is dead, and the wait returned %w", err)
		}
		ended++
		return nil
	})
	if err != nil || ended != 2 {
		t.Fatal(ended, err)
	}
}

// TestDeathOnHost is TestDeath on PEs that share memory.
func TestDeathOnHost(t *testing.T) {
	planned := errors.New("planned")
	var sent, waited error
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		switch w.PE() {
		case 0: // more than there is room for
			for i := 0; sent == nil && i < 100; i++ {
				for range 600 {
					w.Notify(1, 1)
				}
				sent = w.Quiet(ctx)
			}
			return sent
		case 2:
			waited = startAndWait(ctx, notify.New(w, 1, 7, 1))
			return waited
		}
		return planned
	})
	if !errors.Is(err, planned) {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"the sender": sent, "the waiter": waited} {
		var peer *pgas.PeerError
		if !errors.As(err, &peer) || peer.PE != 1 {
			t.Errorf("PE 1 has failed, and %s got %v", what, err)
		}
	}
}
