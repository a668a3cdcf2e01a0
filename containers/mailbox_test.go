package containers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// letter is an item that says where it comes from, so that every loss, repetition and change of order shows.
type letter struct{ from, to, epoch, seq int32 }

// correspondence checks what one member receives in the epochs of a mailbox.
type correspondence struct {
	me    int
	epoch int32
	next  []int32 // the sequence number expected of each sender
	seen  int
}

func (c *correspondence) receive(from int, items []letter) error {
	for _, l := range items {
		want := letter{int32(from), int32(c.me), c.epoch, c.next[from]}
		if l != want {
			return fmt.Errorf("PE %d received %+v, want %+v", c.me, l, want)
		}
		c.next[from]++
		c.seen++
	}
	return nil
}

// planned returns how many letters each PE sends to each in an epoch: every PE computes the same.
func planned(seed uint64, npes int, epoch int32) [][]int32 {
	rnd := rand.New(rand.NewPCG(seed, uint64(epoch)))
	plan := make([][]int32, npes)
	for from := range plan {
		plan[from] = make([]int32, npes)
		for to := range plan[from] {
			plan[from][to] = rnd.Int32N(90) * rnd.Int32N(2)
		}
	}
	return plan
}

// correspond sends what is planned, in random order, for some epochs, and checks what arrives.
func correspond(ctx context.Context, w *pgas.World, seed uint64, epochs int32, opts ...containers.Option) error {
	c := &correspondence{me: w.PE(), next: make([]int32, w.NPEs())}
	box, err := containers.NewMailbox(ctx, w, c.receive, opts...)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(seed, uint64(w.PE())))
	for c.epoch = range epochs {
		clear(c.next)
		plan := planned(seed, w.NPEs(), c.epoch)
		sent := make([]int32, w.NPEs())
		left := 0
		for _, n := range plan[w.PE()] {
			left += int(n)
		}
		for left > 0 {
			to := rnd.IntN(w.NPEs())
			if sent[to] == plan[w.PE()][to] {
				continue
			}
			if err := box.Send(ctx, to, letter{int32(w.PE()), int32(to), c.epoch, sent[to]}); err != nil {
				return err
			}
			sent[to]++
			left--
			if rnd.IntN(40) == 0 {
				if _, err := box.Poll(); err != nil {
					return err
				}
			}
		}
		if err := box.Flush(ctx); err != nil {
			return err
		}
		for from := range plan {
			if got, want := c.next[from], plan[from][w.PE()]; got != want {
				return fmt.Errorf("PE %d has received %d letters of PE %d in epoch %d, want %d: seed %d", w.PE(), got, from, c.epoch, want, seed)
			}
		}
		if n := box.InFlight(); n != 0 {
			// Every letter is received; what its receivers have not said yet comes with their next idle moment.
			if n > 90*w.NPEs() {
				return fmt.Errorf("%d letters in flight after a flush", n)
			}
		}
	}
	return box.Free(ctx)
}

func TestMailboxRandom(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		for seed := range uint64(3) {
			if err := correspond(ctx, w, seed, 4, containers.Ring(1<<(8+seed))); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestMailboxWraps: counts of items that pass their overflow.
func TestMailboxWraps(t *testing.T) {
	containers.SetFirstItem(t, 1<<63-100)
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		return correspond(ctx, w, 7, 4, containers.Ring(256))
	})
}

// TestMailboxTeam: the members of a team have PE numbers of their own, and the others take part in nothing.
func TestMailboxTeam(t *testing.T) {
	pgastest.RunAll(t, 5, func(ctx context.Context, w *pgas.World) error {
		odd, err := w.Team().SplitStrided(ctx, 1, 2, 2)
		if err != nil {
			return err
		}
		var got []int64
		box, err := containers.NewMailbox(ctx, w, func(from int, items []int64) error {
			got = append(got, items...)
			return nil
		}, containers.Over(odd))
		if err != nil {
			return err
		}
		if odd != nil {
			if err := box.Send(ctx, 1-odd.PE(), int64(w.PE())); err != nil {
				return err
			}
			if err := box.Flush(ctx); err != nil {
				return err
			}
			if want := int64(4 - w.PE()); len(got) != 1 || got[0] != want {
				return fmt.Errorf("PE %d got %d, want %d", w.PE(), got, want)
			}
		}
		return box.Free(ctx)
	})
}

// TestMailboxForwards: receive sends on, so a flush must wait for what nobody has sent yet when it begins.
func TestMailboxForwards(t *testing.T) {
	const hops, letters = 40, 30
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		ends := int64(0)
		rnd := rand.New(rand.NewPCG(5, uint64(w.PE())))
		var box *containers.Mailbox[int64]
		receive := func(_ int, items []int64) error {
			for _, left := range items {
				if left == 0 {
					ends++
					continue
				}
				if err := box.Send(ctx, rnd.IntN(w.NPEs()), left-1); err != nil {
					return err
				}
			}
			return nil
		}
		box, err := containers.NewMailbox(ctx, w, receive, containers.Ring(128))
		if err != nil {
			return err
		}
		for range letters {
			if err := box.Send(ctx, rnd.IntN(w.NPEs()), hops); err != nil {
				return err
			}
		}
		if err := box.Flush(ctx); err != nil {
			return err
		}
		sum, err := sumOf(ctx, w, ends)
		if err == nil && sum != letters*int64(w.NPEs()) {
			err = fmt.Errorf("%d letters have ended, want %d", sum, letters*w.NPEs())
		}
		return err
	})
}

// sumOf adds v over all PEs.
func sumOf(ctx context.Context, w *pgas.World, v int64) (int64, error) {
	words, err := pgas.Alloc[int64](ctx, w, 2)
	if err != nil {
		return 0, err
	}
	words.Local()[0] = v
	err = pgas.SumReduce(ctx, w.Team(), words.Range(1, 2), words.Range(0, 1))
	return words.Local()[1], err
}

// TestMailboxBacklog: what receive sends is bounded.
func TestMailboxBacklog(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		var box *containers.Mailbox[int64]
		receive := func(_ int, items []int64) error {
			for range 2 * len(items) {
				if err := box.Send(ctx, 0, 1); err != nil {
					return err
				}
			}
			return nil
		}
		box, err := containers.NewMailbox(ctx, w, receive, containers.Ring(128), containers.Backlog(50))
		if err != nil {
			return err
		}
		if err := box.Send(ctx, 0, 1); err != nil {
			return err
		}
		if err := box.Flush(ctx); err == nil || !strings.Contains(err.Error(), "choose a larger Backlog") {
			return fmt.Errorf("a flood of letters ended with %v", err)
		}
		return nil
	})
}

// TestMailboxReceiveFails: the error of receive comes out of the call that received.
func TestMailboxReceiveFails(t *testing.T) {
	broken := errors.New("broken")
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		box, err := containers.NewMailbox(ctx, w, func(int, []int64) error { return broken })
		if err != nil {
			return err
		}
		if err := box.Send(ctx, 0, 1); err != nil {
			return err
		}
		if _, err := box.Poll(); err != nil { // puts the batch
			return err
		}
		if _, err := box.Poll(); !errors.Is(err, broken) {
			return fmt.Errorf("Poll returned %v", err)
		}
		return nil
	})
}
