// Package silence tests PGAS_PEER_TIMEOUT: in whatever call PEs are blocked, and however one of them or its
// network falls silent, all of them get a *pgas.PeerError that names an unreachable PE.
//
// The tests start jobs on three hosts made of network namespaces, wait until every PE is blocked, and then
// stop a PE, take a link down, drop what one host sends or what it is sent, reset its connections, or let
// only small packets through. This file has the program that the PEs run.
//
//ci:waits
package silence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// The PEs of a job, two on each of three hosts. The victim calls nothing: it computes, so that all others are
// blocked while it lives. A fault of a link is that of the victim's host.
const (
	npes    = 6
	perHost = 2
	victim  = 3
	large   = 1 << 20 // elements of 8 bytes in a transfer that is larger than a connection's buffers
)

// setting is what the calls operate on.
type setting struct {
	w      *pgas.World
	words  pgas.Sym[int64]
	big    pgas.Sym[int64]
	signal pgas.SignalRef
	lock   pgas.LockRef
	spin   *locks.Spin
	dmcs   *locks.DMCS
}

func newSetting(ctx context.Context, w *pgas.World) (*setting, error) {
	s := &setting{w: w}
	var errs [6]error
	s.words, errs[0] = pgas.Alloc[int64](ctx, w, 64)
	s.big, errs[1] = pgas.Alloc[int64](ctx, w, npes*large)
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	errs[2] = err
	theLocks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	errs[3] = err
	s.spin, errs[4] = locks.AllocSpin(ctx, w, locks.SpinOptions{})
	s.dmcs, errs[5] = locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	s.signal, s.lock = pgas.SignalOf(signals, 0), pgas.LockOf(theLocks, 0)
	return s, nil
}

// A call is an operation that blocks all PEs but the victim. The victim runs hold before.
type call struct {
	hold  func(ctx context.Context, s *setting) error
	block func(ctx context.Context, s *setting) error
	large bool // it moves more to and from the victim than buffers hold
	talks bool // it always has data on its way to the victim, which a reset loses
}

// calls are all calls of the table.
var calls = map[string]call{
	"barrier": {block: func(ctx context.Context, s *setting) error { return s.w.Barrier(ctx) }},
	"sync":    {block: func(ctx context.Context, s *setting) error { return s.w.Sync(ctx) }},
	"reduce": {block: func(ctx context.Context, s *setting) error {
		return pgas.SumReduce(ctx, s.w.Team(), s.words.Range(0, 8), s.words.Range(8, 16))
	}},
	"broadcast": {block: func(ctx context.Context, s *setting) error {
		return pgas.Broadcast(ctx, s.w.Team(), s.words.Range(0, 8), s.words.Range(8, 16), victim)
	}},
	"collect": {block: func(ctx context.Context, s *setting) error {
		return pgas.FCollect(ctx, s.w.Team(), s.words.Range(0, 12), s.words.Range(16, 18))
	}},
	"alltoall": {block: func(ctx context.Context, s *setting) error {
		return pgas.AllToAll(ctx, s.w.Team(), s.words.Range(0, 12), s.words.Range(16, 28))
	}},
	"alloc": {block: func(ctx context.Context, s *setting) error {
		_, err := pgas.Alloc[int64](ctx, s.w, 8)
		return err
	}},
	"split": {block: func(ctx context.Context, s *setting) error {
		_, err := s.w.Team().SplitColor(ctx, 0, s.w.PE())
		return err
	}},
	"close": {block: func(_ context.Context, s *setting) error { return s.w.Close() }},
	"wait": {block: func(ctx context.Context, s *setting) error {
		_, err := pgas.AtomicOf(s.words, 0).WaitUntil(ctx, pgas.NE, 0)
		return err
	}},
	"wait set": {block: func(ctx context.Context, s *setting) error {
		_, _, err := pgas.AtomicsOf(s.words.Range(0, 8)).Until(pgas.NE, 0).WaitAny(ctx)
		return err
	}},
	"signal": {block: func(ctx context.Context, s *setting) error {
		_, err := s.signal.WaitUntil(ctx, pgas.NE, 0)
		return err
	}},
	"notify": {block: func(ctx context.Context, s *setting) error {
		r := notify.New(s.w, victim, 1, 1)
		r.Start()
		_, err := r.Wait(ctx)
		return err
	}},
	"lock": {
		hold:  func(ctx context.Context, s *setting) error { return s.lock.Lock(ctx) },
		block: func(ctx context.Context, s *setting) error { return s.lock.Lock(ctx) },
	},
	"spin lock": {
		hold:  func(ctx context.Context, s *setting) error { return s.spin.Lock(ctx) },
		block: func(ctx context.Context, s *setting) error { return s.spin.Lock(ctx) },
	},
	"dmcs lock": {
		hold:  func(ctx context.Context, s *setting) error { return s.dmcs.Lock(ctx) },
		block: func(ctx context.Context, s *setting) error { return s.dmcs.Lock(ctx) },
	},
	"get": {talks: true, block: again(func(ctx context.Context, s *setting) error {
		return caught(func() { s.words.At(0).Get(victim) })
	})},
	"fetch": {talks: true, block: again(func(ctx context.Context, s *setting) error {
		return caught(func() { pgas.AtomicOf(s.words, 1).FetchAdd(victim, 1) })
	})},
	"put": {talks: true, block: again(func(ctx context.Context, s *setting) error {
		s.words.At(2+s.w.PE()).Put(victim, 1)
		return s.w.Quiet(ctx)
	})},
	// Every put needs a connection that there is not yet.
	"first put": {block: again(func(ctx context.Context, s *setting) error {
		c, err := s.w.NewContext()
		if err != nil {
			return err
		}
		s.words.At(2+s.w.PE()).On(c).Put(victim, 1)
		return errors.Join(c.Quiet(ctx), c.Close())
	})},
	"large put": {talks: true, large: true, block: again(func(ctx context.Context, s *setting) error {
		s.big.Range(0, large).Put(victim, make([]int64, large))
		return s.w.Quiet(ctx)
	})},
	"large get": {talks: true, large: true, block: again(func(ctx context.Context, s *setting) error {
		return caught(func() { s.big.Range(0, large).Get(victim, make([]int64, large)) })
	})},
}

// again repeats a call that only blocks when the victim is out of reach.
func again(op func(ctx context.Context, s *setting) error) func(ctx context.Context, s *setting) error {
	return func(ctx context.Context, s *setting) error {
		if s.w.HostOf(victim) == s.w.Host() {
			_, err := pgas.AtomicOf(s.words, 0).WaitUntil(ctx, pgas.NE, 0) // this PE shares the victim's memory
			return err
		}
		for {
			if err := op(ctx, s); err != nil {
				return err
			}
		}
	}
}

// caught returns the panic of an access that can never complete.
func caught(op func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			lost, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = lost
		}
	}()
	op()
	return nil
}

// patience is how long a PE waits before it reports that its call has not ended.
const patience = 2 * time.Minute

// bePE runs a PE. It prints that it is ready, blocks, and prints how that ended.
func bePE(name string) error {
	signal.Ignore(syscall.SIGTERM) // the launcher ends the others when one has ended
	ctx, cancel := hang.Within(context.Background(), patience)
	defer cancel()
	go sayWithoutCPU()
	w, err := pgas.Init(ctx)
	if err != nil {
		return err
	}
	s, err := newSetting(ctx, w)
	if err != nil {
		return err
	}
	if err := meetAll(ctx, s); err != nil {
		return err
	}
	if name == untilTold {
		return waitUntilTold(ctx, s)
	}
	c := calls[name]
	if w.PE() == victim {
		return beVictim(ctx, s, c)
	}
	if _, err := s.held().WaitUntil(ctx, pgas.NE, 0); err != nil {
		return err
	}
	fmt.Printf("ready %d\n", os.Getpid())
	err = c.block(ctx, s)
	var lost *pgas.PeerError
	switch {
	case errors.As(err, &lost):
		fmt.Printf("lost %d at %d: %v\n", lost.PE, time.Now().UnixMilli(), err)
	default:
		fmt.Printf("ended at %d: %v\n", time.Now().UnixMilli(), err)
	}
	os.Exit(1)
	return nil
}

// noCPU is what a PE says that has had no CPU for longer than it may.
const noCPU = "had no CPU"

// sayWithoutCPU says so whenever that happens.
func sayWithoutCPU() {
	gap, err := time.ParseDuration(os.Getenv(gapEnv))
	if err != nil {
		panic(err)
	}
	for last := time.Now(); ; last = time.Now() {
		time.Sleep(10 * time.Millisecond)
		if d := time.Since(last); d > gap {
			fmt.Println(noCPU, "for", d)
		}
	}
}

// held returns the word that tells a PE that the victim has run hold.
func (s *setting) held() pgas.Atomic[int64] { return pgas.AtomicOf(s.words, 48) }

// meetAll makes every PE put to every other, so that all are connected.
func meetAll(ctx context.Context, s *setting) error {
	for pe := range npes {
		s.words.At(32+s.w.PE()).Put(pe, 1)
	}
	return s.w.Barrier(ctx)
}

// untilTold names a job whose PEs wait until all of them are sent SIGUSR1, and then leave.
const untilTold = "until told"

func waitUntilTold(ctx context.Context, s *setting) error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	fmt.Printf("ready %d\n", os.Getpid())
	if s.w.PE() == victim {
		<-told // all others wait for this PE, in C, in Go, and asleep
	}
	if err := s.w.Barrier(ctx); err != nil {
		return err
	}
	if err := s.w.Close(); err != nil {
		return err
	}
	fmt.Println("ended well")
	os.Exit(0)
	return nil
}

func beVictim(ctx context.Context, s *setting, c call) error {
	if c.hold != nil {
		if err := c.hold(ctx, s); err != nil {
			return err
		}
	}
	for pe := range npes {
		s.held().Set(pe, 1)
	}
	if err := s.w.Quiet(ctx); err != nil {
		return err
	}
	fmt.Printf("ready %d\n", os.Getpid())
	<-ctx.Done()
	return ctx.Err()
}
