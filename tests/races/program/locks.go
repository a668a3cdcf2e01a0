package main

// Each kind of lock: two PEs hold it one after the other, or one PE holds it and the other does not.

import (
	"context"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
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

// A kind is a kind of locks.
type kind struct {
	name    string // as the tables of the page have it
	readers bool   // what make returns is a readLock
	make    func(p *pe) lock
}

// allKinds returns pgas.Lock, the locks of package locks, and what is made of these.
func allKinds() []kind {
	all := []kind{
		{"`pgas.Lock`", false, newSpecLock},
		{"`locks.Table`", false, func(p *pe) lock { return got(locks.AllocTable(p.ctx, p.World, 2, locks.TableOptions{})).Lock(1) }},
		{"`locks.Service`", true, func(p *pe) lock {
			return namedLock{got(locks.NewService(p.ctx, p.World, locks.ServiceOptions{})), "data"}
		}},
	}
	for _, k := range kinds.All() {
		all = append(all, kind{"`locks." + k.Type + "`", k.Readers, func(p *pe) lock {
			l, _, err := k.Alloc(p.ctx, p.World, kinds.Options{})
			must(err)
			if s, ok := l.(*locks.SRSL); ok {
				p.serve(s)
			}
			return l
		}})
	}
	return all
}

// underLocks returns the scenarios of all kinds.
func underLocks() (all []scenario) {
	for _, k := range allKinds() {
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
		all = append(all, k.forReaders()...)
	}
	return all
}

// forReaders returns the scenarios of readers, none if the lock has no readers.
func (k kind) forReaders() []scenario {
	if !k.readers {
		return nil
	}
	return []scenario{
		{first: "get under " + k.name + " as a reader", then: "put under it as a writer", run: func(p *pe) (first, then func()) {
			l := k.make(p).(readLock)
			return func() { p.inShared(l, func() { p.word.Get(1) }) },
				func() { p.in(l, func() { p.word.Put(1, 1) }) }
		}},
		{first: "put under " + k.name + " as a reader", then: "put under it as a reader", run: func(p *pe) (first, then func()) {
			l := k.make(p).(readLock)
			return func() { p.inShared(l, func() { p.meet(); p.word.Put(1, 1); p.pass() }) },
				func() { p.inShared(l, func() { p.meet(); p.await(); p.word.Put(1, 1) }) }
		}},
	}
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

func newSpecLock(p *pe) lock {
	return specLock{pgas.LockOf(got(pgas.Alloc[pgas.Lock](p.ctx, p.World, 1)), 0)}
}

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

// serve has PE 0 serve l until all PEs have done their parts.
func (p *pe) serve(l *locks.SRSL) {
	ctx, stop := context.WithCancel(p.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.on(0, func() { _ = l.Serve(ctx) }) // it ends with ctx, and says so
	}()
	p.atEnd = func() { p.meet(); stop(); <-ended }
}
