package containers_test

// What all queues must do, on PEs of every kind: lose nothing, invent nothing, and keep the order of each producer.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// item is what the tests push: the producer, and the number of the item among its own.
type item struct {
	From, N int32
}

// A queuePlan is one queue and what its members do with it.
type queuePlan struct {
	name      string
	start     uint64
	capacity  int
	each      int // items of each producer
	batch     int // pushed and popped at once; 0: one by one, by Push and Pop
	many      bool
	home      int
	producers int // the last so many members
}

var queuePlans = []queuePlan{
	{name: "one consumer", capacity: 8, each: 60, producers: 4},
	{name: "capacity 1", capacity: 1, each: 20, producers: 3},
	{name: "three", capacity: 3, each: 20, producers: 3, home: 1},
	{name: "chunks", capacity: 32, each: 90, batch: 7, producers: 4},
	{name: "many consumers", capacity: 8, each: 60, many: true, producers: 4, home: 2},
	{name: "many consumers, capacity 1", capacity: 1, each: 12, many: true, producers: 2},
	{name: "many consumers, chunks", capacity: 40, each: 90, batch: 5, many: true, producers: 4},
	{name: "tickets wrap", start: containers.QueueWrap - 20, capacity: 8, each: 30, batch: 2, producers: 4},
	{name: "tickets wrap, many consumers", start: containers.QueueWrap - 20, capacity: 5, each: 30, many: true, producers: 4},
}

func TestQueue(t *testing.T) {
	for _, p := range queuePlans {
		t.Run(p.name, func(t *testing.T) {
			pgastest.RunAll(t, 4, p.body)
		})
	}
}

func TestQueueNIC(t *testing.T) {
	for _, p := range []int{0, 4} {
		t.Run(queuePlans[p].name, func(t *testing.T) { pgastest.RunNIC(t, 4, queuePlans[p].body) })
	}
}

func (p *queuePlan) options() []containers.Option {
	opts := []containers.Option{containers.Home(p.home)}
	if p.many {
		opts = append(opts, containers.ManyConsumers())
	}
	return opts
}

// body lets the producers push, and at once the consumers pop, until the queue ends. A PE that does both takes turns.
func (p *queuePlan) body(ctx context.Context, w *pgas.World) error {
	q, err := containers.NewQueueAt[item](ctx, w, p.start, p.capacity, p.options()...)
	if err != nil {
		return err
	}
	left, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	atWork := pgas.AtomicOf(left, 0)
	got := newReceived(w.NPEs())
	produces := w.PE() >= w.NPEs()-p.producers
	consumes := p.many || w.PE() == p.home
	if produces {
		if err := p.produce(ctx, w, q, got, consumes); err != nil {
			return fmt.Errorf("producing: %w", err)
		}
		if int(atWork.FetchAdd(0, 1)) == p.producers-1 {
			if err := q.Close(); err != nil {
				return err
			}
		}
	}
	if consumes {
		if err := p.consume(ctx, q, got); !errors.Is(err, containers.ErrQueueClosed) {
			return fmt.Errorf("consuming ended with %w, not with ErrQueueClosed", err)
		}
	}
	if err := got.check(ctx, w, p); err != nil {
		return err
	}
	if err := q.Push(ctx, item{}); !errors.Is(err, containers.ErrQueueClosed) {
		return fmt.Errorf("a push to the closed queue returned %v", err)
	}
	if n := q.Len(); n > w.NPEs() {
		return fmt.Errorf("%d items in a queue that was emptied", n)
	}
	return q.Free(ctx)
}

// produce pushes this PE's items. A PE that also consumes never waits for room: it would wait for itself.
func (p *queuePlan) produce(ctx context.Context, w *pgas.World, q *containers.Queue[item], got *received, consumes bool) error {
	items := make([]item, p.each)
	for i := range items {
		items[i] = item{int32(w.PE()), int32(i)}
	}
	for len(items) > 0 {
		if !consumes && p.batch > 0 {
			n, err := q.PushAll(ctx, items[:min(p.batch, len(items))])
			if err != nil {
				return err
			}
			items = items[n:]
			continue
		}
		if !consumes {
			if err := q.Push(ctx, items[0]); err != nil {
				return err
			}
			items = items[1:]
			continue
		}
		ok, err := q.TryPush(items[0])
		if err != nil {
			return err
		}
		if ok {
			items = items[1:]
			continue
		}
		v, ok, err := q.TryPop()
		if err != nil {
			return err
		}
		if ok {
			got.add(v)
		} else if err := w.Sleep(ctx, time.Microsecond); err != nil {
			return err
		}
	}
	return nil
}

func (p *queuePlan) consume(ctx context.Context, q *containers.Queue[item], got *received) error {
	if p.batch == 0 {
		for {
			v, err := q.Pop(ctx)
			if err != nil {
				return err
			}
			got.add(v)
		}
	}
	into := make([]item, p.batch-1)
	for {
		n, err := q.PopSome(ctx, into)
		if err != nil {
			return err
		}
		for _, v := range into[:n] {
			got.add(v)
		}
	}
}

// received is what one consumer has got, by producer.
type received struct {
	last  []int32
	count []int64
	err   error
}

func newReceived(npes int) *received {
	r := &received{last: make([]int32, npes), count: make([]int64, npes)}
	for i := range r.last {
		r.last[i] = -1
	}
	return r
}

// add notes v, which must come after all items of its producer that this consumer already has.
func (r *received) add(v item) {
	if int(v.From) >= len(r.last) || v.N <= r.last[v.From] {
		r.err = fmt.Errorf("got item %+v after item %v of the producers", v, r.last)
		return
	}
	r.last[v.From] = v.N
	r.count[v.From]++
}

// check compares what all consumers have got with what was pushed. Since each has ascending numbers of a producer, the
// right number of items of it, whose numbers sum up, is all of them once.
func (r *received) check(ctx context.Context, w *pgas.World, p *queuePlan) error {
	sums, err := pgas.Alloc[int64](ctx, w, 2*w.NPEs())
	if err != nil {
		return err
	}
	n := w.NPEs()
	copy(sums.Local(), r.count)
	if err := pgas.SumReduce(ctx, w.Team(), sums.Range(n, 2*n), sums.Range(0, n)); err != nil {
		return err
	}
	for pe, got := range sums.Local()[n:] {
		want := 0
		if pe >= n-p.producers {
			want = p.each
		}
		if got != int64(want) {
			return fmt.Errorf("%d items of PE %d were popped, want %d", got, pe, want)
		}
	}
	return errors.Join(r.err, sums.Free(ctx))
}

// TestQueues: every PE pushes to every other one's queue.
func TestQueues(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		const each = 10
		qs, err := containers.NewQueues[item](ctx, w, 3*each)
		if err != nil {
			return err
		}
		for i := range each {
			for pe := range w.NPEs() {
				if err := qs.Of(pe).Push(ctx, item{int32(w.PE()), int32(i)}); err != nil {
					return err
				}
			}
		}
		got := newReceived(w.NPEs())
		for range 3 * each {
			v, err := qs.Mine().Pop(ctx)
			if err != nil {
				return err
			}
			got.add(v)
		}
		if _, ok, err := qs.Mine().TryPop(); ok || err != nil {
			return fmt.Errorf("TryPop of an empty queue: %t, %v", ok, err)
		}
		return errors.Join(got.err, w.Barrier(ctx), qs.Free(ctx))
	})
}

// TestQueueOver: the queue of a team; others only help to make it and to free it.
func TestQueueOver(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 1, 1, 2)
		if err != nil {
			return err
		}
		q, err := containers.NewQueue[int](ctx, w, 2, containers.Over(team), containers.Home(1))
		if err != nil {
			return err
		}
		switch w.PE() {
		case 0:
			if err := misuse(func() { q.Push(ctx, 1) }); err != nil {
				return err
			}
		case 1:
			for i := range 20 {
				if err := q.Push(ctx, i); err != nil {
					return err
				}
			}
		case 2:
			for i := range 20 {
				if v, err := q.Pop(ctx); v != i || err != nil {
					return fmt.Errorf("popped %d, %v, want %d", v, err, i)
				}
			}
		}
		return errors.Join(w.Barrier(ctx), q.Free(ctx))
	})
}

// misuse returns an error unless f panics with *pgas.UsageError.
func misuse(f func()) (err error) {
	defer func() {
		var usage *pgas.UsageError
		if e, ok := recover().(error); !ok || !errors.As(e, &usage) {
			err = fmt.Errorf("panicked with %v, not with *pgas.UsageError", e)
		} else if file, _, _ := strings.Cut(usage.At, ":"); !strings.HasPrefix(file, "containers/") || !strings.HasSuffix(file, "_test.go") {
			err = fmt.Errorf("%v is at %q, not at the test's call", usage, usage.At)
		}
	}()
	f()
	return nil
}
