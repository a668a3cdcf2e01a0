package locks_test

// What bounds the fields of a counter's state: however often the lock is used, no field runs over into the next,
// and T_R is exact.

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// The PEs of TestRMARWTickets. All are readers of one counter, whose home is the first.
const (
	insidePE     = iota // reads while the writer waits
	writingPE           // writes, or gives up
	comingPE            // counts how many readers enter meanwhile
	queuedPE            // the first of those that wait together until the writer lets them in
	numTicketPEs = queuedPE + 3
)

// TestRMARWTickets: while a writer waits, exactly T_R readers enter, whatever came before: a writer that gave
// up, more waiting readers than T_R let in at once, many readers while no writer was there.
func TestRMARWTickets(t *testing.T) {
	for _, tr := range []int{1, 2, 5} {
		t.Run(fmt.Sprint("T_R=", tr), func(t *testing.T) {
			usedUp := -1 // the round in which as many readers have entered; PEs of the simulator share it
			_, err := sim.Run(t.Context(), sim.Config{MaxEvents: 1_000_000}, numTicketPEs, func(ctx context.Context, w *pgas.World) error {
				s, err := locks.AllocRMARWState(ctx, w, 1)
				if err != nil {
					return err
				}
				l, err := locks.NewRMARW(ctx, w, s.At(0), locks.RMARWOptions{TR: tr, TDC: numTicketPEs})
				if err != nil {
					return err
				}
				c := ticketCheck{w, l, s.At(0).Counter(), tr, &usedUp}
				for round := range 6 {
					if err := c.round(ctx, round); err != nil {
						return fmt.Errorf("round %d: %w", round, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

type ticketCheck struct {
	w      *pgas.World
	l      *locks.RMARW
	at     locks.CounterRef
	tr     int
	usedUp *int
}

// round makes a writer wait for the reader inside. In odd rounds the writer gives up.
func (c *ticketCheck) round(ctx context.Context, round int) error {
	if c.w.PE() == insidePE {
		if err := c.l.RLock(ctx); err != nil {
			return err
		}
	}
	if err := c.w.Barrier(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.meanwhile(ctx, round), c.w.Barrier(ctx)); err != nil {
		return err
	}
	for range 10 {
		if err := c.l.RLock(ctx); err != nil {
			return err
		}
		c.l.RUnlock()
	}
	if err := c.w.Barrier(ctx); err != nil {
		return err
	}
	if s := c.at.State().Fetch(insidePE); s != 0 {
		return fmt.Errorf("the counter's state is %#x when no PE uses the lock", s)
	}
	return c.w.Barrier(ctx)
}

// meanwhile runs each PE's part while the first PE is inside.
func (c *ticketCheck) meanwhile(ctx context.Context, round int) error {
	givesUp := round%2 == 1
	switch c.w.PE() {
	case insidePE:
		if err := c.until(ctx, func() bool { return *c.usedUp == round }); err != nil {
			return err
		}
		if givesUp {
			err := c.until(ctx, func() bool { return !c.wanted() })
			c.l.RUnlock()
			return err
		}
		err := c.until(ctx, func() bool { return c.l.Waiting() == 1+numTicketPEs-queuedPE })
		c.l.RUnlock()
		return err
	case writingPE:
		return c.write(ctx, givesUp)
	case comingPE:
		err := c.enterAll(ctx)
		*c.usedUp = round
		return err
	}
	// They wait, and are let in together by the writer when it leaves, or gives up.
	if err := c.until(ctx, func() bool { return *c.usedUp == round }); err != nil {
		return err
	}
	err := c.l.RLock(ctx)
	if err == nil {
		c.l.RUnlock()
	}
	return err
}

func (c *ticketCheck) wanted() bool {
	_, _, wanted, _ := locks.CounterFields(c.at.State().Fetch(insidePE))
	return wanted
}

func (c *ticketCheck) until(ctx context.Context, is func() bool) error {
	for !is() {
		if err := c.w.Sleep(ctx, time.Microsecond); err != nil {
			return err
		}
	}
	return nil
}

func (c *ticketCheck) write(ctx context.Context, givesUp bool) error {
	if !givesUp {
		err := c.l.Lock(ctx)
		if err == nil {
			c.l.Unlock()
		}
		return err
	}
	soon, cancel := c.w.WithTimeout(ctx, time.Millisecond) // far longer than any operation takes in the simulator
	defer cancel()
	if err := c.l.Lock(soon); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a writer got %v while a reader was inside", err)
	}
	return nil
}

// enterAll lets readers enter until the counter refuses one.
func (c *ticketCheck) enterAll(ctx context.Context) error {
	if err := c.until(ctx, c.wanted); err != nil {
		return err
	}
	n := 0
	for c.l.TryRLock() {
		n++
		c.l.RUnlock()
	}
	if n != c.tr || !c.wanted() {
		return fmt.Errorf("%d readers entered while a writer waited, and T_R is %d", n, c.tr)
	}
	return nil
}

// bounded is an RMA-RW lock that checks its PE's counter after every call.
type bounded struct {
	*locks.RMARW
	at   locks.CounterRef
	home int
	most int64 // the largest number of tickets
}

func (b *bounded) check() {
	readers, tickets, _, _ := locks.CounterFields(b.at.State().Fetch(b.home))
	if readers > 64 || tickets > b.most {
		panic(fmt.Sprintf("a counter has %d readers and %d tickets", readers, tickets))
	}
}

func (b *bounded) Lock(ctx context.Context) error  { defer b.check(); return b.RMARW.Lock(ctx) }
func (b *bounded) RLock(ctx context.Context) error { defer b.check(); return b.RMARW.RLock(ctx) }
func (b *bounded) TryRLock() bool                  { defer b.check(); return b.RMARW.TryRLock() }
func (b *bounded) Unlock()                         { b.RMARW.Unlock(); b.check() }
func (b *bounded) RUnlock()                        { b.RMARW.RUnlock(); b.check() }

// makeUsed makes an RMA-RW lock with one counter that starts with tickets on it, as a writer that gave up may leave it.
func makeUsed(tr int, tickets int64) lockstest.Maker {
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		s, err := locks.AllocRMARWState(ctx, w, 1)
		if err != nil {
			return nil, err
		}
		at := s.At(0).Counter()
		if w.PE() == 0 {
			at.State().Set(0, locks.WithTickets(tickets))
		}
		if err := errors.Join(w.Quiet(ctx), w.Barrier(ctx)); err != nil {
			return nil, err
		}
		l, err := locks.NewRMARW(ctx, w, s.At(0), locks.RMARWOptions{TR: tr, TDC: w.NPEs()})
		return &bounded{l, at, 0, max(tickets, int64(tr)) + int64(w.NPEs())}, err
	}
}

// TestRMARWFull: exclusion holds, and no PE is stuck, with the greatest number of tickets on a counter.
func TestRMARWFull(t *testing.T) {
	const most = locks.MaxTR
	for _, tickets := range []int64{most - 1, most, most + 8} {
		t.Run(fmt.Sprint("tickets=", tickets), func(t *testing.T) {
			for _, plan := range []lockstest.Plan{{"lccr", "qcq"}, {"lcts", "rqst"}} {
				lockstest.Adversaries(t, flat, 4, 6, 20, plan, makeUsed(most, tickets))
			}
			explore(t, sim.Config{}, makeUsed(most, tickets), "l r")
		})
	}
}

// TestRMARWBounded: with T_R as small as it can be, and with readers that wait together.
func TestRMARWBounded(t *testing.T) {
	for _, plan := range []lockstest.Plan{{"l", "r", "r", "q"}, {"lccr", "qcq"}, {"c", "rrrr"}} {
		lockstest.Adversaries(t, flat, 5, 20, 20, plan, makeUsed(1, 0))
	}
}
