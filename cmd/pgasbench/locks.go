package main

// Locks: taken and given back by one PE that is alone, or by all PEs at once for a fixed time. A word under
// the lock counts, and its last value is the number of turns, unless two PEs held the lock at once. The same
// rules stand in tests/peers/locks.h.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

// A lockKind is a lock that is measured.
type lockKind struct {
	name, doc string
	// make is collective. PE home has the words of the lock, if one PE has them.
	make func(ctx context.Context, w *pgas.World, home int) (locker, error)
}

// locker is what is measured of a lock.
type locker interface {
	Lock(ctx context.Context) error
	Unlock()
}

// lockKinds returns pgas.Lock and the locks of papers, without the baselines.
func lockKinds() []lockKind {
	all := []lockKind{{"lock", "pgas.Lock", makeLock}}
	for _, k := range kinds.All() {
		if k.Baseline {
			continue
		}
		doc := k.Called
		if k.Readers {
			doc += ", for writing"
		}
		all = append(all, lockKind{k.Bench(), doc, func(ctx context.Context, w *pgas.World, home int) (locker, error) {
			l, _, err := k.Alloc(ctx, w, kinds.Options{Home: home})
			return l, err
		}})
	}
	return all
}

// benchesOfLocks returns three benches of each kind.
func benchesOfLocks() (all []bench) {
	for _, k := range lockKinds() {
		all = append(all,
			bench{k.name + "-own", "lock and unlock " + k.doc + " of the own memory, no other PE wanting it", oneWord, false, aloneAt(k, false)},
			bench{k.name + "-other", "the same, of the last PE's memory", oneWord, true, aloneAt(k, true)},
			bench{k.name + "-contended", "all PEs at " + k.doc + " for ten times as long: lock, count, unlock", oneWord, false, contendedTask(k)})
	}
	return all
}

// pgasLock is a pgas.Lock without the error of its Unlock, which the next wait reports.
type pgasLock struct{ pgas.LockRef }

func (l pgasLock) Unlock() {
	if err := l.LockRef.Unlock(); err != nil {
		panic(err)
	}
}

// makeLock takes one of several locks whose home is home: which PE is a lock's home follows from its place.
func makeLock(ctx context.Context, w *pgas.World, home int) (locker, error) {
	for {
		some, err := pgas.Alloc[pgas.Lock](ctx, w, 16)
		if err != nil {
			return nil, err
		}
		for i := range some.Len() {
			if l := pgas.LockOf(some, i); l.Home() == home {
				return pgasLock{l}, nil
			}
		}
	}
}

// aloneAt measures PE 0, the home of the lock being PE 0 or the last PE.
func aloneAt(k lockKind, other bool) func(r *runner, size int) task {
	return func(r *runner, _ int) task {
		home := 0
		if other {
			home = r.partner
		}
		l, err := k.make(r.ctx, r.w, home)
		if err != nil {
			return failed(err)
		}
		count := &r.board.Local().Count
		*count = 0
		batch := func(_, n int) error {
			for range n {
				if err := l.Lock(r.ctx); err != nil {
					return err
				}
				*count++
				l.Unlock()
			}
			return nil
		}
		t := r.oneSided(batch, r.checkCount)
		t.via = r.w.TransportTo(home)
		return t
	}
}

// contendedTask measures all PEs. The home of the lock is PE 0, and so is that of the count.
func contendedTask(k lockKind) func(r *runner, size int) task {
	return func(r *runner, _ int) task {
		l, err := k.make(r.ctx, r.w, 0)
		if err != nil {
			return failed(err)
		}
		r.board.Local().Count = 0
		c := result.Contest{
			Lock: func() error { return l.Lock(r.ctx) },
			Count: func() int {
				before := r.board.GetCount(0)
				r.board.PutCount(0, before+1)
				return int(before)
			},
			Unlock: l.Unlock,
		}
		return task{contest: &c, verify: r.checkCount, via: r.w.TransportTo(r.partner)}
	}
}

// checkCount compares PE 0's count with what was done.
func (r *runner) checkCount(done int) error {
	if r.w.PE() != 0 {
		return nil
	}
	return checkWord(uint64(r.board.Local().Count), done)
}

// contend has all PEs take turns at t.contest for a fixed time, and returns on PE 0 what each has got of it. done is
// known to every PE.
func (r *runner) contend(t task) (shares []result.Share, done int, err error) {
	if err := r.w.Barrier(r.ctx); err != nil {
		return nil, 0, err
	}
	mine, err := r.plan.Contend(*t.contest, r.clock)
	if err != nil {
		return nil, 0, err
	}
	to := r.shares.At(r.w.PE())
	to.PutGot(0, int64(mine.Got))
	to.PutTook(0, int64(mine.Took))
	to.PutP50(0, int64(mine.P50))
	to.PutP99(0, int64(mine.P99))
	to.PutLongest(0, int64(mine.Longest))
	to.PutPassed(0, int64(mine.Passed))
	if err := r.w.Barrier(r.ctx); err != nil {
		return nil, 0, err
	}
	for _, s := range r.shares.Local() {
		shares = append(shares, result.Share{
			Got: int(s.Got), Took: time.Duration(s.Took),
			P50: time.Duration(s.P50), P99: time.Duration(s.P99), Longest: time.Duration(s.Longest), Passed: int(s.Passed),
		})
		done += int(s.Got)
	}
	done, err = r.agree(done)
	return shares, done, err
}
