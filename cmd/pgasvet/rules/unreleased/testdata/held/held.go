// Package held has locks that are not released on some path, and others that are.
package held

import (
	"context"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/locks"
	"github.com/gopgas/gopgas/dsm"
	paper "github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

type bank struct{ w *pgas.World }

func (b bank) forgotten(ctx context.Context, a locks.AccountRef) error {
	if err := a.Guard().Lock(ctx); err != nil { // want `what LockRef.Lock takes is not released where line [0-9]+ returns, but elsewhere: .*; release it there, or by defer`
		return err
	}
	a.PutBalance(0, a.GetBalance(0)+1)
	if err := b.w.Quiet(ctx); err != nil {
		return err
	}
	if err := b.w.Barrier(ctx); err != nil {
		a.Guard().Unlock()
		return err
	}
	return a.Guard().Unlock()
}

func errorsEndTheJob(ctx context.Context, w *pgas.World, l pgas.LockRef) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	return l.Unlock()
}

func noError(ctx context.Context, w *pgas.World, l pgas.LockRef) error {
	if err := l.Lock(ctx); err != nil { // want `what LockRef.Lock takes is not released where line [0-9]+ returns`
		return err
	}
	if w.PE() == 0 {
		return nil
	}
	return l.Unlock()
}

func released(ctx context.Context, w *pgas.World, a locks.AccountRef) error {
	if err := a.Guard().Lock(ctx); err != nil {
		return err
	}
	if err := w.Quiet(ctx); err != nil {
		a.Guard().Unlock()
		return err
	}
	return a.Guard().Unlock()
}

func deferred(ctx context.Context, w *pgas.World, l paper.Lock) error {
	err := l.Lock(ctx)
	if err != nil {
		return err
	}
	defer l.Unlock()
	return w.Quiet(ctx)
}

func deferredInALiteral(ctx context.Context, w *pgas.World, l pgas.LockRef) (err error) {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	defer func() { err = l.Unlock() }()
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	return nil
}

func tried(l paper.Lock, work func() bool) bool {
	if !l.TryLock() { // want `what Lock.TryLock takes is not released where line [0-9]+ returns`
		return false
	}
	if !work() {
		return false
	}
	l.Unlock()
	return true
}

func triedAndReleased(l paper.Lock, work func() bool) {
	if l.TryLock() {
		work()
		l.Unlock()
	}
}

func readers(ctx context.Context, l *dsm.RWMutex, work func() bool) error {
	if err := l.RLock(ctx); err != nil { // want `what RWMutex.RLock takes is not released where line [0-9]+ returns`
		return err
	}
	if work() {
		return nil
	}
	l.RUnlock()
	return nil
}

func byName(ctx context.Context, s *paper.Service, work func() bool) error {
	if err := s.Lock(ctx, "a"); err != nil { // want `what Service.Lock takes is not released where line [0-9]+ returns`
		return err
	}
	if err := s.Lock(ctx, "b"); err != nil {
		s.Unlock("a")
		return err
	}
	if work() {
		s.Unlock("b")
		return nil
	}
	s.Unlock("b")
	s.Unlock("a")
	return nil
}

func ofATable(ctx context.Context, t *paper.Table, i int) error {
	if err := t.Lock(i).Lock(ctx); err != nil {
		return err
	}
	t.Lock(i).Unlock()
	return nil
}

// It hands the lock to its caller.
func take(ctx context.Context, l paper.Lock) error { return l.Lock(ctx) }

// It hands the lock to its caller too, unless there is an error.
func takeAndCheck(ctx context.Context, l paper.Lock, check func() error) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if err := check(); err != nil {
		l.Unlock()
		return err
	}
	return nil
}

func release(l paper.Lock) { l.Unlock() }

func releasedByAHelper(ctx context.Context, l paper.Lock, work func() bool) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if work() {
		release(l)
		return nil
	}
	l.Unlock()
	return nil
}

func conditionsThatBelongTogether(ctx context.Context, l paper.Lock, locked bool) error {
	if locked {
		if err := l.Lock(ctx); err != nil {
			return err
		}
	}
	if locked {
		l.Unlock()
	}
	return nil
}

func inALoop(ctx context.Context, l paper.Lock, work func() bool) error {
	for range 10 {
		if err := l.Lock(ctx); err != nil { // want `what Lock.Lock takes is not released where line [0-9]+ returns`
			return err
		}
		if work() {
			return nil
		}
		l.Unlock()
		if work() {
			return nil
		}
	}
	return nil
}

func nextTurn(ctx context.Context, l paper.Lock, work func() bool) error {
	for range 10 {
		if err := l.Lock(ctx); err != nil { // want `what Lock.Lock takes is still held where line [0-9]+ takes it again, which waits for ever: release it on all paths before`
			return err
		}
		if work() {
			continue
		}
		l.Unlock()
	}
	return nil
}

func leftByBreak(ctx context.Context, l paper.Lock, work func() bool) error {
	for {
		if err := l.Lock(ctx); err != nil { // want `what Lock.Lock takes is not released on all paths to line [0-9]+: other PEs wait for it for ever; release it before break, continue or goto, or by defer`
			return err
		}
		if work() {
			break
		}
		l.Unlock()
		if work() {
			break
		}
	}
	return nil
}

func nextTurnOfReaders(ctx context.Context, l paper.RWLock, work func() bool) error {
	for range 10 {
		if err := l.RLock(ctx); err != nil { // want `what RWLock.RLock takes is not released on all paths to its next turn: .*; release it before continue or goto`
			return err
		}
		if work() {
			continue
		}
		l.RUnlock()
	}
	return nil
}

func nextTurnOfReleasedReaders(ctx context.Context, l *dsm.RWMutex, work func() bool) error {
	for range 10 {
		if err := l.RLock(ctx); err != nil {
			return err
		}
		if work() {
			l.RUnlock()
			continue
		}
		l.RUnlock()
	}
	return nil
}

func readersLeftByBreak(ctx context.Context, l *paper.NCoSED, work func() bool) error {
	for {
		if err := l.RLock(ctx); err != nil { // want `what NCoSED.RLock takes is not released on all paths to line [0-9]+: .*; release it before break, continue or goto, or by defer`
			return err
		}
		if work() {
			break
		}
		l.RUnlock()
		if work() {
			break
		}
	}
	return nil
}

func triedByReaders(l paper.RWLock, work func() bool) {
	for range 10 {
		if !l.TryRLock() { // want `what RWLock.TryRLock takes is not released on all paths to its next turn`
			continue
		}
		if work() {
			continue
		}
		l.RUnlock()
	}
}

func triedUntilTaken(l paper.RWLock, work func() bool) {
	for !l.TryRLock() {
		work()
	}
	work()
	l.RUnlock()
}

func readAndWritten(ctx context.Context, l paper.RWLock, work func() bool) error {
	if err := l.RLock(ctx); err != nil { // want `what RWLock.RLock takes is still held where line [0-9]+ takes it again, which waits for ever`
		return err
	}
	if work() {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		work()
		l.Unlock()
	}
	l.RUnlock()
	return nil
}

func readThenWritten(ctx context.Context, l paper.RWLock, work func() bool) error {
	if err := l.RLock(ctx); err != nil {
		return err
	}
	found := work()
	l.RUnlock()
	if found {
		return nil
	}
	if err := l.Lock(ctx); err != nil {
		return err
	}
	work()
	l.Unlock()
	return nil
}

func inTheModeAskedFor(ctx context.Context, l paper.RWLock, write bool, work func() bool) error {
	lock, unlock := l.RLock, l.RUnlock
	if write {
		lock, unlock = l.Lock, l.Unlock
	}
	for range 10 {
		if err := lock(ctx); err != nil {
			return err
		}
		work()
		unlock()
	}
	return nil
}

func inOneOfTwoModes(ctx context.Context, l paper.RWLock, write bool, work func() bool) (err error) {
	for range 10 {
		if write {
			err = l.Lock(ctx)
		} else {
			err = l.RLock(ctx)
		}
		if err != nil {
			return err
		}
		work()
		if write {
			l.Unlock()
		} else {
			l.RUnlock()
		}
	}
	return nil
}

func readersInsideEachOther(ctx context.Context, l paper.RWLock, work func() bool) error {
	if err := l.RLock(ctx); err != nil {
		return err
	}
	defer l.RUnlock()
	if work() {
		if err := l.RLock(ctx); err != nil {
			return err
		}
		defer l.RUnlock()
	}
	return nil
}

func nextTurnByName(ctx context.Context, s *paper.Service, name string, work func() bool) error {
	for range 10 {
		if err := s.Lock(ctx, "all"); err != nil { // want `what Service.Lock takes is still held where line [0-9]+ takes it again`
			return err
		}
		if err := s.RLock(ctx, name); err != nil { // want `what Service.RLock takes is not released on all paths to its next turn`
			return err
		}
		if work() {
			continue
		}
		s.RUnlock(name)
		s.Unlock("all")
	}
	return nil
}

func namesOfTurns(ctx context.Context, s *paper.Service, names []string, work func() bool) error {
	for _, name := range names {
		if err := s.RLock(ctx, name); err != nil {
			return err
		}
		if work() {
			s.RUnlock(name)
			continue
		}
	}
	for _, name := range names {
		s.RUnlock(name)
	}
	return nil
}

func computedNames(ctx context.Context, s *paper.Service, part func(int) string, work func() bool) error {
	for range 10 {
		if err := s.Lock(ctx, part(1)); err != nil {
			return err
		}
		if work() {
			s.Unlock(part(1))
			continue
		}
		s.Unlock(part(1))
	}
	return nil
}

func ofAClient(ctx context.Context, c *paper.Client, work func() bool) error {
	for range 10 {
		taken, err := c.TryRLock("a") // want `what Client.TryRLock takes is not released on all paths to its next turn`
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		if work() {
			continue
		}
		if err := c.RUnlock("a"); err != nil {
			return err
		}
	}
	return nil
}

func ofAClientReleased(c *paper.Client, work func() bool) (bool, error) {
	taken, err := c.TryLock("a")
	if err != nil {
		return false, err
	}
	if !taken {
		return false, nil
	}
	if err := c.Unlock("a"); err != nil {
		return false, err
	}
	return true, nil
}

func closedClient(ctx context.Context, c *paper.Client, work func() bool) error {
	if err := c.Lock(ctx, "a"); err != nil {
		return err
	}
	if work() {
		return c.Close()
	}
	return c.Unlock("a")
}
