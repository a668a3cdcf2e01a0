package containers_test

// Queues in the simulator: every order of the operations of two or three members, many seeds of an adversary, a PE that
// dies at any time, and a random program beside a slice that does the same.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// queueSteps is what each PE does in an exploration: p pushes, t tries to push, o pops, y tries to pop, c closes.
type queueSteps struct {
	capacity int
	many     bool
	start    uint64
	steps    []string
}

//ci:weekly
func TestQueueExplored(t *testing.T) {
	for name, s := range map[string]queueSteps{
		"one consumer":               {2, false, 0, []string{"o", "p"}},
		"full":                       {1, false, 0, []string{"y", "tt"}},
		"tickets wrap":               {1, false, containers.QueueWrap - 1, []string{"o", "p"}},
		"two consumers, full":        {1, true, containers.QueueWrap - 1, []string{"y", "ty"}},
		"closed":                     {2, false, 0, []string{"oo", "tc"}},
		"closed while a push begins": {1, false, 0, []string{"c", "t"}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("short tests are for the race detector, which has nothing to see where one PE runs at a time")
			}
			e, err := sim.Explore(t.Context(), sim.Config{Reduce: true}, len(s.steps), s.body())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", e)
		})
	}
}

func TestQueueAdversaries(t *testing.T) {
	for name, s := range map[string]queueSteps{
		"one consumer":  {2, false, 0, []string{"ooyy", "pt", "tp"}},
		"two consumers": {2, true, containers.QueueWrap - 3, []string{"yyyyty", "ttttc", "tyyytty"}},
		"capacity 1":    {1, true, 0, []string{"yyytyy", "tttttc", "tyyytty"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := sim.Seeds(t.Context(), sim.Config{}, len(s.steps), 300, s.body()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// body runs the steps. What a consumer gets must have been pushed, only once, and in the order of its producer; and
// what was pushed must be in the queue at the end, or have been popped.
func (s queueSteps) body() sim.Body {
	popped := map[item]bool{}
	pushed := 0
	return func(ctx context.Context, w *pgas.World) error {
		clear(popped)
		pushed = 0
		var opts []containers.Option
		if s.many {
			opts = append(opts, containers.ManyConsumers())
		}
		q, err := containers.NewQueueAt[item](ctx, w, s.start, s.capacity, opts...)
		if err != nil {
			return err
		}
		got := newReceived(w.NPEs())
		take := func(v item) error {
			sim.Shares(ctx)
			if popped[v] {
				return fmt.Errorf("popped %+v twice", v)
			}
			popped[v] = true
			got.add(v)
			return got.err
		}
		sim.Start(ctx)
		sim.Shares(ctx)
		mine := item{From: int32(w.PE())}
		for _, step := range s.steps[w.PE()] {
			mine.N++
			if err := s.step(ctx, q, step, mine, take, &pushed); errors.Is(err, containers.ErrQueueClosed) {
				break
			} else if err != nil {
				return fmt.Errorf("%c: %w", step, err)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for w.PE() == 0 {
			v, ok, err := q.TryPop()
			if err != nil && !errors.Is(err, containers.ErrQueueClosed) {
				return err
			}
			if !ok {
				break
			}
			// Other consumers' later items may have been popped before.
			got = newReceived(w.NPEs())
			if err := take(v); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		sim.Shares(ctx)
		if len(popped) != pushed {
			return fmt.Errorf("%d items were pushed, and %d popped", pushed, len(popped))
		}
		return nil
	}
}

func (s queueSteps) step(ctx context.Context, q *containers.Queue[item], step rune, mine item, take func(item) error, pushed *int) error {
	switch step {
	case 'p':
		if err := q.Push(ctx, mine); err != nil {
			return err
		}
		*pushed++
	case 't':
		ok, err := q.TryPush(mine)
		if err != nil {
			return err
		}
		if ok {
			*pushed++
		}
	case 'o':
		v, err := q.Pop(ctx)
		if err != nil {
			return err
		}
		return take(v)
	case 'y':
		v, ok, err := q.TryPop()
		if !ok || err != nil {
			return err
		}
		return take(v)
	case 'c':
		return q.Close()
	}
	return nil
}

// TestQueueDeaths: whenever a producer dies, even between reserving a place and publishing, the consumer gets
// *pgas.PeerError or all items, and so do other producers: nobody hangs.
func TestQueueDeaths(t *testing.T) {
	for at := range 40 {
		for _, many := range []bool{false, true} {
			p := queuePlan{capacity: 2, each: 10, producers: 3, many: many}
			cfg := sim.Config{Topology: "host:2", Deaths: []sim.Death{{PE: 3, At: time.Duration(40+5*at) * time.Microsecond}}}
			_, err := sim.Run(t.Context(), cfg, 4, func(ctx context.Context, w *pgas.World) error {
				err := p.body(ctx, w)
				var peer *pgas.PeerError
				if errors.As(err, &peer) && peer.PE == 3 {
					return nil
				}
				return err
			})
			if sim.IsDeadlock(err) || err != nil && !isAbout(err, 3) {
				t.Errorf("death at %v: %v", cfg.Deaths[0].At, err)
			}
		}
	}
}

func isAbout(err error, pe int) bool {
	var peer *pgas.PeerError
	return errors.As(err, &peer) && peer.PE == pe
}

// TestQueueReserved: a producer that ends with a ticket and no item is told to a consumer that waits for it.
func TestQueueReserved(t *testing.T) {
	for _, many := range []bool{false, true} {
		var got [3]error
		pgastest.Goroutines(t.Context(), len(got), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			var opts []containers.Option
			if many {
				opts = append(opts, containers.ManyConsumers())
			}
			q, err := containers.NewQueue[int](ctx, w, 4, opts...)
			if err != nil {
				return err
			}
			if w.PE() == 2 {
				q.ReserveOnly()
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			switch {
			case w.PE() == 2:
				return errors.New("out of ideas")
			case w.PE() == 1:
				_, got[1] = q.PushAll(ctx, make([]int, 10)) // more than there is room for
			default:
				_, got[0] = q.Pop(ctx)
			}
			return got[w.PE()]
		})
		for pe, err := range got[:2] {
			if !isAbout(err, 2) {
				t.Errorf("many consumers %t: PE %d got %v, not a *PeerError about PE 2", many, pe, err)
			}
		}
	}
}

// TestQueueRandom: PEs take turns in a random program, beside a slice that does the same.
func TestQueueRandom(t *testing.T) {
	for seed := range uint64(40) {
		if _, err := sim.Run(t.Context(), sim.Config{Adversary: true, Seed: seed}, 3, queueRandom(seed)); err != nil {
			t.Fatalf("seed %d: %v\nreplay with: go test ./containers -run '^TestQueueRandom$'", seed, err)
		}
	}
}

func queueRandom(seed uint64) sim.Body {
	var twin []int
	closed := false
	return func(ctx context.Context, w *pgas.World) error {
		// of the simulator; it takes milliseconds, unless items are lost
		ctx, cancel := w.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		r := rand.New(rand.NewPCG(seed, 0)) // the same on all PEs
		capacity := 1 + r.IntN(9)
		q, err := containers.NewQueueAt[int](ctx, w, containers.QueueWrap-r.Uint64N(100), capacity, containers.ManyConsumers(), containers.Home(r.IntN(3)))
		if err != nil {
			return err
		}
		for i := range 120 {
			turn, what, n := r.IntN(w.NPEs()), r.IntN(100), 1+r.IntN(capacity)
			if turn == w.PE() {
				if err := queueStep(ctx, q, &twin, &closed, what, n, i); err != nil {
					return fmt.Errorf("step %d: %w", i, err)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return q.Free(ctx)
	}
}

// queueStep does one thing to the queue and to its twin.
func queueStep(ctx context.Context, q *containers.Queue[int], twin *[]int, closed *bool, what, n, i int) error {
	wrong := func(call string, got ...any) error {
		return fmt.Errorf("%s returned %v: the queue should hold %v of %d, closed %t", call, got, *twin, q.Cap(), *closed)
	}
	room := q.Cap() - len(*twin)
	switch {
	case what < 40:
		ok, err := q.TryPush(i)
		if ok != (room > 0 && !*closed) || errors.Is(err, containers.ErrQueueClosed) != *closed {
			return wrong("TryPush", ok, err)
		}
		if ok {
			*twin = append(*twin, i)
		}
	case what < 55 && n <= room:
		items := make([]int, n)
		for j := range items {
			items[j] = 1000*i + j
		}
		n, err := q.PushAll(ctx, items)
		if errors.Is(err, containers.ErrQueueClosed) != *closed || !*closed && n != len(items) {
			return wrong("PushAll", n, err)
		}
		*twin = append(*twin, items[:n]...)
	case what < 75:
		v, ok, err := q.TryPop()
		ended := *closed && len(*twin) == 0
		if ok != (len(*twin) > 0) || ok && v != (*twin)[0] || errors.Is(err, containers.ErrQueueClosed) != ended {
			return wrong("TryPop", v, ok, err)
		}
		if ok {
			*twin = (*twin)[1:]
		}
	case what < 99 && len(*twin) > 0:
		into := make([]int, n)
		n, err := q.PopSome(ctx, into)
		if err != nil || n < 1 || n > len(*twin) || !slices.Equal(into[:n], (*twin)[:n]) {
			return wrong("PopSome", into[:n], err)
		}
		*twin = (*twin)[n:]
	case what == 99:
		*closed = true
		return q.Close()
	}
	if got := q.Len(); got != len(*twin) && !*closed {
		return wrong("Len", got)
	}
	return nil
}
