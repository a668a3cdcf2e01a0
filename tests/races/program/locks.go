package main

// Each kind of lock: two PEs in it one after the other, and one of them in it and the other not.

import (
	"context"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

// A lock is what the scenarios need of one.
type lock interface {
	Lock(ctx context.Context) error
	Unlock()
}

// A readLock is the same for readers.
type readLock interface {
	lock
	RLock(ctx context.Context) error
	RUnlock()
}

// kinds are the kinds of locks, by the names of the tables.
var kinds = []struct {
	name string
	make func(p *pe) lock
}{
	{"`pgas.Lock`", func(p *pe) lock { return specLock{pgas.LockOf(got(pgas.Alloc[pgas.Lock](p.ctx, p.World, 1)), 0)} }},
	{"`locks.Spin`", func(p *pe) lock { return got(locks.AllocSpin(p.ctx, p.World, locks.SpinOptions{})) }},
	{"`locks.DMCS`", func(p *pe) lock { return got(locks.AllocDMCS(p.ctx, p.World, locks.DMCSOptions{})) }},
	{"`locks.DQNL`", func(p *pe) lock { return got(locks.AllocDQNL(p.ctx, p.World, locks.DQNLOptions{})) }},
	{"`locks.ALock`", func(p *pe) lock { return got(locks.AllocALock(p.ctx, p.World, locks.ALockOptions{})) }},
	{"`locks.RMAMCS`", func(p *pe) lock { return got(locks.AllocRMAMCS(p.ctx, p.World, locks.RMAMCSOptions{})) }},
	{"`locks.Table`", func(p *pe) lock { return got(locks.AllocTable(p.ctx, p.World, 2, locks.TableOptions{})).Lock(1) }},
	{"`locks.SpinRW`", func(p *pe) lock { return got(locks.AllocSpinRW(p.ctx, p.World, locks.SpinOptions{})) }},
	{"`locks.RMARW`", func(p *pe) lock { return got(locks.AllocRMARW(p.ctx, p.World, locks.RMARWOptions{})) }},
	{"`locks.NCoSED`", func(p *pe) lock { return got(locks.AllocNCoSED(p.ctx, p.World, locks.NCoSEDOptions{})) }},
	{"`locks.SRSL`", func(p *pe) lock { return served(p) }},
	{"`locks.Service`", func(p *pe) lock {
		return namedLock{got(locks.NewService(p.ctx, p.World, locks.ServiceOptions{})), "data"}
	}},
}

// underLocks returns the scenarios of all kinds.
func underLocks() (all []scenario) {
	for _, k := range kinds {
		all = append(all,
			scenario{first: "put under " + k.name, then: "get under it", run: func(p *pe) (first, then func()) {
				l := k.make(p)
				return func() { p.in(l, func() { p.word.Put(1, p.word.Get(1)+1) }) },
					func() { p.in(l, func() { p.word.Put(1, p.word.Get(1)+1) }) }
			}},
			scenario{first: "put under " + k.name, then: "get without it", run: func(p *pe) (first, then func()) {
				l := k.make(p)
				return func() { p.in(l, func() { p.word.Put(1, 1) }); p.pass() },
					func() { p.await(); p.word.Get(1) }
			}},
		)
		all = append(all, forReaders(k.name, k.make)...)
	}
	return all
}

// forReaders returns the scenarios of a lock for readers, none for another.
func forReaders(name string, make func(p *pe) lock) []scenario {
	if !forReadersToo[name] {
		return nil
	}
	return []scenario{
		{first: "get under " + name + " as a reader", then: "put under it as a writer", run: func(p *pe) (first, then func()) {
			l := make(p).(readLock)
			return func() { p.inShared(l, func() { p.word.Get(1) }) },
				func() { p.in(l, func() { p.word.Put(1, 1) }) }
		}},
		{first: "put under " + name + " as a reader", then: "put under it as a reader", run: func(p *pe) (first, then func()) {
			l := make(p).(readLock)
			return func() { p.inShared(l, func() { p.meet(); p.word.Put(1, 1); p.pass() }) },
				func() { p.inShared(l, func() { p.meet(); p.await(); p.word.Put(1, 1) }) }
		}},
	}
}

var forReadersToo = map[string]bool{
	"`locks.SpinRW`": true, "`locks.RMARW`": true, "`locks.NCoSED`": true, "`locks.SRSL`": true, "`locks.Service`": true,
}

// in runs f while this PE holds l.
func (p *pe) in(l lock, f func()) {
	must(l.Lock(p.ctx))
	f()
	l.Unlock()
}

// inShared runs f while this PE holds l as a reader.
func (p *pe) inShared(l readLock, f func()) {
	must(l.RLock(p.ctx))
	f()
	l.RUnlock()
}

// meet is a barrier.
func (p *pe) meet() { must(p.Barrier(p.ctx)) }

// specLock is the lock of the specification, whose Unlock has an error.
type specLock struct{ pgas.LockRef }

func (l specLock) Unlock() { must(l.LockRef.Unlock()) }

// namedLock is a lock of a Service.
type namedLock struct {
	service *locks.Service
	name    string
}

func (l namedLock) Lock(ctx context.Context) error  { return l.service.Lock(ctx, l.name) }
func (l namedLock) Unlock()                         { l.service.Unlock(l.name) }
func (l namedLock) RLock(ctx context.Context) error { return l.service.RLock(ctx, l.name) }
func (l namedLock) RUnlock()                        { l.service.RUnlock(l.name) }

// served returns a lock that PE 0 serves until all PEs have done their parts.
func served(p *pe) lock {
	l := got(locks.AllocSRSL(p.ctx, p.World, locks.SRSLOptions{}))
	ctx, stop := context.WithCancel(p.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.on(0, func() { _ = l.Serve(ctx) }) // it ends with ctx, and says so
	}()
	p.atEnd = func() { p.meet(); stop(); <-ended }
	return l
}
