package containers_test

// Handles that goroutines of a PE share: those that promise it lose and repeat nothing, and of the others a second
// goroutine is told where it is and where the first one is.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// sharers is how many goroutines of a PE share a handle.
const sharers = 8

// together runs f in so many goroutines of this PE.
func together(ctx context.Context, w *pgas.World, f func(ctx context.Context, g int) error) error {
	group := w.Go(ctx)
	for g := range sharers {
		group.Go(func(ctx context.Context) error { return f(ctx, g) })
	}
	return group.Wait()
}

// TestTicketsShared: goroutines that share Tickets get different numbers, and with those that are still reserved all
// numbers are there.
func TestTicketsShared(t *testing.T) {
	// a smaller batch has more messages
	for batch, each := range map[int]int{1: 500, 20: 2 * collisions, 1000: 5 * collisions} {
		t.Run(fmt.Sprintf("batch of %d", batch), func(t *testing.T) {
			pgastest.Run(t, 2, ticketsShared(batch, each))
			pgastest.RunSim(t, 2, ticketsShared(batch, 20))
		})
	}
}

// collisions is how often each goroutine uses what they share, so that they meet in it.
const collisions = 20_000

func ticketsShared(batch, each int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		n, err := containers.NewTickets(ctx, w, containers.Batch(batch))
		if err != nil {
			return err
		}
		got := make([]uint64, sharers*each)
		err = together(ctx, w, func(ctx context.Context, g int) error {
			for i := range each {
				got[g*each+i] = n.Next()
			}
			return nil
		})
		if err != nil {
			return err
		}
		all, err := pgas.AllGather(ctx, w.Team(), got)
		if err != nil {
			return err
		}
		numbers := slices.Concat(all...)
		slices.Sort(numbers)
		for i, v := range numbers {
			if i > 0 && v == numbers[i-1] {
				return fmt.Errorf("number %d came twice", v)
			}
			if limit := uint64(len(numbers) + sharers*batch*w.NPEs()); v >= limit || batch == 1 && v != uint64(i) {
				return fmt.Errorf("number %d came as the one at %d", v, i)
			}
		}
		return n.Free(ctx)
	}
}

// TestCounterShared: what goroutines add together is the sum.
func TestCounterShared(t *testing.T) {
	t.Setenv("PGAS_RACE", "plain") // the goroutines are to meet in the atomic, and not in a lock
	pgastest.Run(t, 2, counterShared(20*collisions))
	pgastest.RunSim(t, 2, counterShared(20))
}

func counterShared(each int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		c, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		err = together(ctx, w, func(ctx context.Context, g int) error {
			for range each {
				c.Add(int64(g))
			}
			_, err := c.Sum(ctx)
			return err
		})
		if err != nil {
			return err
		}
		want := int64(each * sharers * (sharers - 1) / 2 * w.NPEs())
		if sum, err := c.SumAll(ctx); sum != want || err != nil {
			return fmt.Errorf("the sum is %d, %v, want %d", sum, err, want)
		}
		if sum, err := c.Sum(ctx); sum != want || err != nil {
			return fmt.Errorf("Sum returns %d, %v, want %d", sum, err, want)
		}
		return c.Free(ctx)
	}
}

// TestBloomShared: a key that a goroutine has added is there for it at once, whatever others do.
func TestBloomShared(t *testing.T) {
	type key struct{ From, N uint64 }
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		b, err := containers.NewBloom[key](ctx, w, 10_000, 0.01)
		if err != nil {
			return err
		}
		err = together(ctx, w, func(ctx context.Context, g int) error {
			for n := range uint64(100) {
				k := key{uint64(sharers*w.PE() + g), n}
				b.Add(k)
				if !b.MayHave(k) {
					return fmt.Errorf("%v was added, and is not there", k)
				}
			}
			return nil
		})
		return errors.Join(err, w.Barrier(ctx), b.Free(ctx))
	})
}

// TestQueuesShared: goroutines take the queues of all members at once, one goroutine each, and one pops beside them.
func TestQueuesShared(t *testing.T) {
	const each = 40
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		qs, err := containers.NewQueues[item](ctx, w, 4)
		if err != nil {
			return err
		}
		group := w.Go(ctx)
		for pe := range w.NPEs() {
			group.Go(func(ctx context.Context) error {
				for i := range each {
					if err := qs.Of(pe).Push(ctx, item{int32(w.PE()), int32(i)}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		got := newReceived(w.NPEs())
		for range each * w.NPEs() { // pushes wait for room meanwhile
			v, err := qs.Mine().Pop(ctx)
			if err != nil {
				return err
			}
			got.add(v)
		}
		return errors.Join(got.err, group.Wait(), w.Barrier(ctx), qs.Free(ctx))
	})
}

// TestCloseBesidePop: a Close of another goroutine ends a Pop that waits.
func TestCloseBesidePop(t *testing.T) {
	pgastest.RunAll(t, 1, func(ctx context.Context, w *pgas.World) error {
		q, err := containers.NewQueue[int](ctx, w, 2)
		if err != nil {
			return err
		}
		popped := make(chan error, 1)
		group := w.Go(ctx, func(ctx context.Context) error {
			_, err := q.Pop(ctx)
			popped <- err
			return nil
		})
		err = errors.Join(q.Close(), group.Wait())
		if got := <-popped; !errors.Is(got, containers.ErrQueueClosed) {
			return fmt.Errorf("the pop returned %v", got)
		}
		return errors.Join(err, q.Free(ctx))
	})
}

// A shared handle: first stays in a call until release is closed, and closes inside when it is there; second is another
// call.
type sharedHandle struct {
	first, second func()
}

// stay is for a function that a call calls, or for one beside a call that waits.
type stay struct {
	inside, release chan struct{}
	end             func() // lets the first call end, if release alone does not
}

func (s *stay) here() {
	select {
	case <-s.inside:
	default:
		close(s.inside)
	}
	<-s.release
}

// sharedHandles make a handle of each type.
var sharedHandles = map[string]func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error){
	"Map": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(100))
		if err != nil {
			return sharedHandle{}, err
		}
		_, err = m.Insert(ctx, 1, 1)
		return sharedHandle{
			func() { m.UpdateAll(ctx, maps.All(map[int]int{1: 1}), func(a, b int) int { s.here(); return a + b }) },
			func() { m.Find(1) },
		}, err
	},
	"TextMap": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(100))
		return sharedHandle{
			func() {
				m.SetAll(ctx, func(yield func(string, string) bool) {
					s.here()
					yield("a", strings.Repeat("long", 100))
				})
			},
			func() { m.Set(ctx, "a", strings.Repeat("more", 100)) },
		}, err
	},
	"Mailbox": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		box, err := containers.NewMailbox(ctx, w, func(int, []int) error { s.here(); return nil })
		if err != nil {
			return sharedHandle{}, err
		}
		err = box.Send(ctx, 0, 1)
		return sharedHandle{func() { box.Flush(ctx) }, func() { box.Flush(ctx) }}, err
	},
	"WorkPool": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		pool, err := containers.NewWorkPool[int](ctx, w, 8)
		if err != nil {
			return sharedHandle{}, err
		}
		pool.Add(1)
		run := func(context.Context, int, func(int)) error { s.here(); return nil }
		return sharedHandle{func() { pool.Run(ctx, run) }, func() { pool.Run(ctx, run) }}, nil
	},
	"Array": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		a, err := containers.NewArray[int](ctx, w, 10)
		return sharedHandle{
			func() { a.Combine(ctx, []int{1}, []int{2}, func(a, b int) int { s.here(); return a + b }) },
			func() { a.Gather(ctx, make([]int, 1), []int{1}) },
		}, err
	},
	"Queue pops": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		q, err := containers.NewQueue[int](ctx, w, 1)
		s.end = func() { q.Close() }
		return sharedHandle{func() { close(s.inside); q.Pop(ctx) }, func() { q.Pop(ctx) }}, err
	},
	"Queue pushes": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		q, err := containers.NewQueue[int](ctx, w, 1)
		if err != nil {
			return sharedHandle{}, err
		}
		err = q.Push(ctx, 1)
		s.end = func() { q.Close() }
		return sharedHandle{func() { close(s.inside); q.Push(ctx, 2) }, func() { q.Push(ctx, 3) }}, err
	},
	"DistObject": func(ctx context.Context, w *pgas.World, s *stay) (sharedHandle, error) {
		d, err := containers.NewDistObject[int](ctx, w)
		s.end = func() { d.Publish(1) }
		return sharedHandle{func() { close(s.inside); d.Fetch(ctx, 0) }, func() { d.Fetch(ctx, 0) }}, err
	},
}

// bothLines is what a second goroutine is told: its own line, the call of the first one, and that one's line.
var bothLines = regexp.MustCompile(`at containers/shared_test\.go:\d+: \w+\.\w+, called at containers/shared_test\.go:\d+, is under way: `)

// TestSecondGoroutine: a second goroutine in a handle panics with *pgas.UsageError, with both lines, with and without
// checks; after that the first call ends as if nothing had been.
func TestSecondGoroutine(t *testing.T) {
	for name, made := range sharedHandles {
		for _, checks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, checks=%t", name, checks), func(t *testing.T) {
				err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Check: checks}, func(ctx context.Context, w *pgas.World) error {
					s := &stay{inside: make(chan struct{}), release: make(chan struct{})}
					h, err := made(ctx, w, s)
					if err != nil {
						return err
					}
					return secondGoroutine(h, s)
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// secondGoroutine makes the second call while the first one is under way. A call that has only begun to wait may be met
// by the second before it is in the handle; then the first one is told.
func secondGoroutine(h sharedHandle, s *stay) error {
	told := make(chan error, 2)
	call := func(f func()) {
		defer func() {
			err, _ := recover().(error)
			told <- err
		}()
		f()
	}
	go call(h.first)
	<-s.inside
	go call(h.second)
	err := <-told
	close(s.release)
	if s.end != nil {
		s.end()
	}
	other := <-told
	var usage *pgas.UsageError
	if !errors.As(err, &usage) || !bothLines.MatchString(err.Error()) {
		return fmt.Errorf("the second goroutine was told: %v", err)
	}
	if other != nil {
		return fmt.Errorf("the other goroutine was told: %w", other)
	}
	return nil
}

// TestSendNotesItsPlace: in a program that is checked, a goroutine that comes while another one receives in a Send is
// told both lines.
func TestSendNotesItsPlace(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		s := &stay{inside: make(chan struct{}), release: make(chan struct{})}
		received := false
		box, err := containers.NewMailbox(ctx, w, func(int, []int) error { received = true; s.here(); return nil })
		if err != nil {
			return err
		}
		sends := func() {
			for !received {
				if err := box.Send(ctx, 0, 1); err != nil {
					panic(err)
				}
			}
		}
		return secondGoroutine(sharedHandle{sends, func() { box.Poll() }}, s)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSendShared: in a program that is checked, two goroutines that send at the same time are told, or nothing is lost.
func TestSendShared(t *testing.T) {
	const each = 2000
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		received := 0
		box, err := containers.NewMailbox(ctx, w, func(_ int, items []int) error { received += len(items); return nil })
		if err != nil {
			return err
		}
		err = together(ctx, w, func(ctx context.Context, _ int) error {
			for i := range each {
				if err := box.Send(ctx, 0, i); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.As(err, new(*pgas.UsageError)) {
			return nil
		}
		if err := errors.Join(err, box.Flush(ctx)); err != nil {
			return err
		}
		if received != each*sharers {
			return fmt.Errorf("%d of %d items were received, and no goroutine was told", received, each*sharers)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFlushCountsSends: without checks, the Flush after a Send whose item is lost says so, and so does one after a Send
// that was not counted.
func TestFlushCountsSends(t *testing.T) {
	for name, lose := range map[string]func(*containers.Mailbox[int]){
		"an item":  func(box *containers.Mailbox[int]) { box.LoseItem() },
		"a number": func(box *containers.Mailbox[int]) { box.LoseNumber() },
		"nothing":  func(*containers.Mailbox[int]) {},
	} {
		t.Run(name, func(t *testing.T) {
			err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				received := 0
				box, err := containers.NewMailbox(ctx, w, func(_ int, items []int) error { received += len(items); return nil })
				if err != nil {
					return err
				}
				for round := range 3 { // batches that are full, and some that are not
					for range 5000 {
						if err := box.Send(ctx, 0, 1); err != nil {
							return err
						}
					}
					if round == 2 {
						lose(box)
					}
					if err := box.Flush(ctx); err != nil {
						return err
					}
				}
				if received != 3*5000 {
					return fmt.Errorf("%d items were received", received)
				}
				return nil
			})
			if name == "nothing" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.As(err, new(*pgas.UsageError)) || !strings.Contains(err.Error(), "goroutines have sent at the same time") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestHandleAfterPanic: a call that panics leaves the handle to the next one.
func TestHandleAfterPanic(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(100))
		if err != nil {
			return err
		}
		if _, err := m.Insert(ctx, 1, 1); err != nil {
			return err
		}
		func() {
			defer func() { recover() }()
			err = m.Update(ctx, 1, 1, func(int, int) int { panic("of the program") })
		}()
		if err != nil {
			return err
		}
		if v, ok := m.Find(1); v != 1 || !ok {
			return fmt.Errorf("found %d, %t", v, ok)
		}
		return m.Free(ctx)
	})
}
