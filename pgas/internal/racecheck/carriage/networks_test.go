package carriage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/internal/racecheck/carriage"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport"
)

// order is a detector that knows how many releases of each PE it has been told of.
type order struct {
	records chan *racecheck.Record // of the goroutines that apply
	last    []uint64               // by PE: the last release
	wrong   error
}

func (o *order) Apply(r *racecheck.Record) {
	kept := *r
	select {
	case o.records <- &kept:
	default:
	}
}

// settle looks at the records so far.
func (o *order) settle() {
	for {
		select {
		case r := <-o.records:
			if r.Release == 0 {
				break
			}
			if r.Own != o.last[r.From]+1 {
				o.wrong = fmt.Errorf("release %d of PE %d comes after %d", r.Own, r.From, o.last[r.From])
			}
			o.last[r.From] = r.Own
		default:
			return
		}
	}
}

func (o *order) Answer(racecheck.Question) *racecheck.Clock { return nil }

func (o *order) Stop() {}

const perPass = 5 // records of a round without a release

// carries has each PE send records and then a word to each other, in turns: a PE that has seen the word finds the
// records.
func carries(rounds uint64) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error { return carry(ctx, w, rounds) }
}

func carry(ctx context.Context, w *pgas.World, rounds uint64) error {
	me, n := w.PE(), private.Node(w)
	words, err := pgas.Alloc[uint64](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	words.Local()[me] = 1234
	if n.WordsOf(me, boot.ReservedBytes, w.NPEs())[me].Load() != 1234 {
		return fmt.Errorf("the first allocation is not at the start of the heap")
	}
	words.Local()[me] = 0
	l, err := carriage.LayoutFor(w.NPEs(), boot.StagingBytes)
	if err != nil {
		return err
	}
	d := &order{records: make(chan *racecheck.Record, int(rounds)*w.NPEs()*(perPass+1)), last: make([]uint64, w.NPEs())}
	c, err := carriage.Over(n, l, boot.StagingOff, d, func(line string) { d.wrong = fmt.Errorf("%s", line) })
	if err != nil {
		return err
	}
	if err := w.Sync(ctx); err != nil {
		return err
	}
	for i := range rounds {
		if err := send(ctx, c, n, i); err != nil {
			return err
		}
		for pe := range w.NPEs() {
			if pe == me {
				continue
			}
			v, err := pgas.AtomicOf(words, pe).WaitUntil(ctx, pgas.GE, i+1)
			if err != nil {
				return err
			}
			c.Drain()
			if d.settle(); d.last[pe] < v || d.wrong != nil {
				return fmt.Errorf("PE %d has seen round %d of PE %d, and records of %d: %v", me, v, pe, d.last[pe], d.wrong)
			}
			if _, err := c.Ask(ctx, pe, racecheck.Question{Call: &racecheck.CallKey{Home: int32(pe), Size: 1}}); err != nil {
				return err
			}
		}
	}
	if err := w.Sync(ctx); err != nil {
		return err
	}
	c.Close()
	return c.CloseChannels()
}

// send sends the records of a round to every other PE, each round on another channel.
func send(ctx context.Context, c *carriage.Carriage, n *node.Node, i uint64) error {
	me := n.Job.PE
	for pe := range n.Job.NPEs {
		if pe == me {
			continue
		}
		ch, err := open(n, pe)
		if err != nil {
			return err
		}
		for range perPass {
			c.Tell(ch, pe, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: int32(me)}}, Count: 1, Bytes: 8})
		}
		off := uint64(boot.ReservedBytes + 8*me)
		c.Tell(ch, pe, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: int32(me), Own: i + 1}}, Off: off, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
		ch.Post(pe, transport.Set, transport.Word{Off: off, Bytes: 8}, i+1)
		c.Flush(ch, pe)
		if err := ch.Quiet(ctx, pe); err != nil {
			return err
		}
		if i%3 != 0 { // the others keep their rings
			c.Forget(ch)
		}
		if err := ch.Close(); err != nil {
			return err
		}
	}
	return nil
}

// open opens a channel to a PE.
func open(n *node.Node, pe int) (transport.Channel, error) {
	if n.Shm.Heap(pe) != nil {
		return n.Shm.Channel(true)
	}
	return n.Remote.Channel(true)
}

// TestNetworks: over every network, a PE that has seen an effect finds its record, and is answered.
func TestNetworks(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	t.Run("goroutines", func(t *testing.T) {
		if err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, carries(200)); err != nil {
			t.Error(err)
		}
	})
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("late ", seed), func(t *testing.T) {
			if err := pgastest.Late(ctx, 3, 3, pgastest.Options{Seed: seed}, carries(5)); err != nil {
				t.Error(err)
			}
		})
	}
	pgastest.RunProcesses(t, 3, carries(200))
	pgastest.RunHosts(t, 3, 2, carries(200))
}
