package lockbench

// The two benches of the paper on N-CoSED (n-cosed 4.2, 4.3). PE 0 has the lock's word, and is the server where
// there is one; it does nothing else.
//
//	basic    PE 1 acquires a lock that no other PE wants: how long until it has it
//	cascade  PE 1 holds the lock and all others wait, to share it or to have it alone; it releases, and so does each
//	         of them at once: how long until the last one has had it
//
// In the simulator that is when the last one has it. The clocks of real PEs do not agree, so there it is when PE 1 has
// been told so: one message more, whatever the lock.
//
// What the paper adds to each figure, and these benches do not, is the way from a program to the daemon of its host
// and back, by System V queues: 2.9 µs each (n-cosed 4.1).

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

var cosedLocks = []string{kinds.NCoSED, kinds.DQNL, kinds.SRSL}

// xeonCluster is the cluster of the paper, one PE to a host, in notification mode.
var xeonCluster = config{Costs: "mt25208-notified", Atomics: "unified", Rounds: usualRounds}

// usualRounds is how often it is done, also where a time is said: these benches are of one time after the other.
const usualRounds = 20

var cascadeBenches = []bench{
	{
		name: "basic", doc: "time to acquire what no other PE wants; PE 0 serves", y: "acquire", locks: cosedLocks,
		usual: grid{writers: []float64{0, 1}, pes: []int{2}, topologies: []string{"host:1"}, rest: xeonCluster},
		body:  clientBench{least: 2, clients: 1, play: (*client).basic}.body,
	},
	{
		name: "cascade", doc: "time until the last of those that wait behind PE 1 has had the lock; PE 0 serves", y: "last", locks: cosedLocks,
		usual: grid{writers: []float64{0, 1}, pes: []int{18}, topologies: []string{"host:1"}, rest: xeonCluster},
		body:  clientBench{least: 3, play: (*client).cascade}.body,
	},
}

// cascadeFigures are those of n-cosed 4. Those that are in notification mode are in polling mode with
// -costs mt25208.
var cascadeFigures = []sweep.Figure[grid]{
	{Name: "cosed-basic", Doc: "n-cosed 5b: time to acquire, shared and alone", X: "fw", Grid: grid{benches: []string{"basic"}}},
	{
		Name: "cosed-shared", Doc: "n-cosed 7a: shared cascade of 1 to 16",
		Grid: grid{benches: []string{"cascade"}, writers: []float64{0}, pes: []int{3, 4, 6, 10, 18}},
	},
	{
		Name: "cosed-alone", Doc: "n-cosed 7b: exclusive cascade of 1 to 16",
		Grid: grid{benches: []string{"cascade"}, writers: []float64{1}, pes: []int{3, 4, 6, 10, 18}},
	},
}

// A clientBench is what PEs do while PE 0 serves.
type clientBench struct {
	least   int // the smallest number of PEs
	clients int // the last PE that takes part, PE 1 being the first; 0: all take part
	play    func(*client) error
}

// A client is one PE of a clientBench.
type client struct {
	ctx     context.Context
	w       *pgas.World
	c       config
	lock    locks.Lock
	clients int
	words   pgas.Sym[int64]
	tally   Tally
}

// The words, each on the PE that looks at it.
const (
	leftWord    = iota // on PE 0: the clients that are through
	gateWord           // on each waiter: the rounds in which it may ask for the lock
	toldWord           // on PE 1: how many clients have had the lock
	counterWord        // on PE 0: a counter that is incremented under the lock
	clientWords
)

func (g *client) word(i int) pgas.Atomic[int64] { return pgas.AtomicOf(g.words, i) }

func (p clientBench) body(ctx context.Context, w *pgas.World, c config) (t Tally, err error) {
	if w.NPEs() < p.least {
		return t, fmt.Errorf("%s takes %d PEs or more: one serves, and one locks", c.Bench, p.least)
	}
	lock, serve, free, err := makeLock(ctx, w, c)
	if err != nil {
		return t, err
	}
	words, err := pgas.Alloc[int64](ctx, w, clientWords)
	if err != nil {
		return t, err
	}
	g := &client{ctx: ctx, w: w, c: c, lock: lock, clients: w.NPEs() - 1, words: words}
	if p.clients > 0 {
		g.clients = p.clients
	}
	over, stop := context.WithCancel(ctx)
	defer stop()
	if w.PE() == 0 && c.critical != nil {
		c.critical.left, c.critical.stop = g.clients, stop
	}
	if err := w.Barrier(ctx); err != nil {
		return t, err
	}
	switch {
	case w.PE() == 0:
		err = g.serve(over, stop, serve)
	case w.PE() <= g.clients:
		err = p.play(g)
		t = g.tally
		if err == nil {
			err = g.prove()
		}
		g.leave()
	}
	if err == nil {
		err = g.count()
	}
	if err == nil {
		err = words.Free(ctx)
	}
	if err != nil {
		return t, err
	}
	return t, free(ctx)
}

// makeLock makes the lock. serve is nil where there is no server. It is collective, and so is free.
func makeLock(ctx context.Context, w *pgas.World, c config) (l locks.Lock, serve, free func(context.Context) error, err error) {
	if k, _ := sweep.Find(compared, c.Lock); k.alloc != nil {
		l, free, err = k.alloc(ctx, w, c.lockOptions())
		return l, nil, free, err
	}
	l, free, err = kinds.Of(kinds.SRSL).Alloc(ctx, w, kinds.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	return l, l.(*locks.SRSL).Serve, free, nil
}

// serve serves on PE 0 until all clients are through. A simulated PE has no goroutine that could look for that
// meanwhile: the last client ends it.
func (g *client) serve(over context.Context, stop func(), serve func(context.Context) error) error {
	switch {
	case serve == nil:
		_, err := g.word(leftWord).WaitUntil(g.ctx, pgas.GE, int64(g.clients))
		return err
	case g.c.critical != nil:
		return unlessOver(over, serve(over))
	}
	var server sync.WaitGroup
	var served, err error
	server.Go(func() { served = serve(over) })
	for g.word(leftWord).Fetch(0) < int64(g.clients) && over.Err() == nil && err == nil {
		err = g.w.Sleep(over, time.Millisecond) // a wait for the word would take turns with the server's
	}
	stop()
	server.Wait()
	if err != nil {
		return unlessOver(over, err)
	}
	return unlessOver(over, served)
}

// unlessOver returns err, unless it only says that over has ended.
func unlessOver(over context.Context, err error) error {
	if errors.Is(err, context.Cause(over)) {
		return nil
	}
	return err
}

// leave records that this client is through.
func (g *client) leave() {
	if r := g.c.critical; r != nil {
		if r.left--; r.left == 0 {
			r.stop()
		}
	}
	g.word(leftWord).FetchAdd(0, 1)
}

// exclusive reports whether the client acquires the lock alone.
func (g *client) exclusive() bool { return g.c.Writers > 0 }

// acquire gets the lock, and returns how to release it.
func (g *client) acquire(exclusive bool) (release func(), err error) {
	lock, unlock := g.lock.Lock, g.lock.Unlock
	if rw, ok := g.lock.(locks.RWLock); ok && !exclusive {
		lock, unlock = rw.RLock, rw.RUnlock
	}
	if err := lock(g.ctx); err != nil {
		return nil, err
	}
	if err := g.c.critical.enter(exclusive); err != nil {
		return nil, err
	}
	return func() {
		g.c.critical.leave(exclusive)
		unlock()
	}, nil
}

// settled is longer than anything that has been sent takes to arrive.
const settled = 100 * time.Microsecond

// basic runs a client that is alone.
func (g *client) basic() error {
	began := g.w.Now()
	for range cmp.Or(g.c.Rounds, usualRounds) {
		asked := g.w.Now()
		release, err := g.acquire(g.exclusive())
		if err != nil {
			return err
		}
		wait := g.w.Now() - asked
		g.tally.did(g.exclusive(), wait, wait)
		release()
		if err := g.w.Sleep(g.ctx, settled); err != nil {
			return err
		}
	}
	g.tally.TookNs = int64(g.w.Now() - began)
	return nil
}

// cascade runs PE 1, which holds the lock first, or a client that waits.
func (g *client) cascade() error {
	for i := range int64(cmp.Or(g.c.Rounds, usualRounds)) {
		var err error
		if g.w.PE() == 1 {
			err = g.hold(i)
		} else {
			err = g.wait(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hold keeps the lock in round i until all others wait.
func (g *client) hold(i int64) error {
	release, err := g.acquire(true)
	if err != nil {
		return err
	}
	waiters := g.clients - 1
	for pe := 2; pe <= g.clients; pe++ {
		g.word(gateWord).Set(pe, i+1)
	}
	for g.lock.Waiting() < waiters {
		if err := g.w.Sleep(g.ctx, settled/10); err != nil {
			return err
		}
	}
	if err := g.w.Sleep(g.ctx, settled); err != nil {
		return err
	}
	began := g.w.Now()
	release()
	if _, err := g.word(toldWord).WaitUntil(g.ctx, pgas.GE, (i+1)*int64(waiters)); err != nil {
		return err
	}
	last := g.w.Now()
	if r := g.c.critical; r != nil {
		last = r.last
	}
	g.tally.did(g.exclusive(), last-began, last-began)
	g.tally.TookNs += int64(last - began)
	return nil
}

// wait acquires the lock in round i, once PE 1 has it.
func (g *client) wait(i int64) error {
	if _, err := g.word(gateWord).WaitUntil(g.ctx, pgas.GE, i+1); err != nil {
		return err
	}
	release, err := g.acquire(g.exclusive())
	if err != nil {
		return err
	}
	if r := g.c.critical; r != nil {
		r.last = max(r.last, g.w.Now())
	}
	release()
	g.word(toldWord).FetchAdd(1, 1)
	return nil
}

// prove increments the counter under the lock.
func (g *client) prove() error {
	counter := g.words.At(counterWord)
	for range proofs {
		release, err := g.acquire(true)
		if err != nil {
			return err
		}
		counter.Put(0, counter.Get(0)+1)
		release()
	}
	return nil
}

// count checks that no increment is lost. It is collective.
func (g *client) count() error {
	if err := g.w.Barrier(g.ctx); err != nil {
		return err
	}
	if got, want := g.words.Local()[counterWord], int64(proofs*g.clients); g.w.PE() == 0 && got != want {
		return fmt.Errorf("%s: the counter was incremented %d times under the lock, and is %d: the lock does not exclude", g.c.name(), want, got)
	}
	return nil
}
