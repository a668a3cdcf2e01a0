package snippets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	records "github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/locks"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

// wrong unreleased: continue keeps the lock
func continues(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		if s.At(i).Get(0) == 0 {
			continue
		}
		s.At(i).Put(0, 0)
		l.Unlock()
	}
	return nil
}

// right: continue after the unlock
func continuesRight(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		if s.At(i).Get(0) == 0 {
			l.Unlock()
			continue
		}
		s.At(i).Put(0, 0)
		l.Unlock()
	}
	return nil
}

// wrong unreleased: break keeps the lock
func breaks(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		if s.At(i).Get(0) == 0 {
			break
		}
		s.At(i).Put(0, 0)
		l.Unlock()
	}
	return nil
}

// right: the unlock is behind the loop that break leaves
func breaksRight(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	for i := range s.Len() {
		if s.At(i).Get(0) == 0 {
			break
		}
		s.At(i).Put(0, 0)
	}
	l.Unlock()
	return nil
}

// wrong unreleased: an early return
func returns(ctx context.Context, a records.AccountRef, sum int64) (bool, error) {
	if err := a.Guard().Lock(ctx); err != nil {
		return false, err
	}
	old := a.GetBalance(0)
	if old < sum {
		return false, nil
	}
	a.PutBalance(0, old-sum)
	return true, a.Guard().Unlock()
}

// wrong unreleased: goto past the unlock
func jumpsOver(ctx context.Context, l locks.Lock, c design.CellRef) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if c.GetSum(0) > 0 {
		goto done
	}
	c.PutSum(0, 1)
	l.Unlock()
done:
	return nil
}

// right: goto to the unlock
func jumpsTo(ctx context.Context, l locks.Lock, c design.CellRef) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if c.GetSum(0) > 0 {
		goto done
	}
	c.PutSum(0, 1)
done:
	l.Unlock()
	return nil
}

// wrong unreleased: an error keeps the lock, and the body goes on
func keepsOnError(ctx context.Context, l locks.Lock, c design.CellRef) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if c.GetSum(0) < 0 {
		l.Unlock()
		return errors.New("negative")
	}
	if c.GetSum(0) > 9 {
		return errors.New("too large")
	}
	l.Unlock()
	return nil
}

// wrong unreleased: a case of a switch returns
func switches(ctx context.Context, l locks.Lock, c design.CellRef, what string) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	switch what {
	case "reset":
		c.PutSum(0, 0)
	case "look":
		return nil
	default:
		c.PutSum(0, 1)
	}
	l.Unlock()
	return nil
}

// wrong unreleased: a try that succeeds is not released on one path
func tries(l locks.Lock, c design.CellRef) bool {
	if !l.TryLock() {
		return false
	}
	if c.GetSum(0) > 0 {
		return true
	}
	c.PutSum(0, 1)
	l.Unlock()
	return true
}

// right: a try that fails holds nothing
func triesRight(l locks.Lock, c design.CellRef) bool {
	for range 10 {
		if !l.TryLock() {
			continue
		}
		c.PutSum(0, 1)
		l.Unlock()
		return true
	}
	return false
}

// wrong unreleased: a reader's lock
func reads(ctx context.Context, l *locks.SpinRW, c design.CellRef) (float64, error) {
	if err := l.RLock(ctx); err != nil {
		return 0, err
	}
	v := c.GetSum(0)
	if v < 0 {
		return 0, nil
	}
	l.RUnlock()
	return v, nil
}

// wrong unreleased: continue keeps a reader's lock
func readsOn(ctx context.Context, l locks.RWLock, s pgas.Sym[int64]) (sum int64, err error) {
	for i := range s.Len() {
		if err := l.RLock(ctx); err != nil {
			return 0, err
		}
		v := s.At(i).Get(0)
		if v == 0 {
			continue
		}
		sum += v
		l.RUnlock()
	}
	return sum, nil
}

// right: each turn releases the reader's lock
func readsOnRight(ctx context.Context, l locks.RWLock, s pgas.Sym[int64]) (sum int64, err error) {
	for i := range s.Len() {
		if err := l.RLock(ctx); err != nil {
			return 0, err
		}
		v := s.At(i).Get(0)
		l.RUnlock()
		if v == 0 {
			continue
		}
		sum += v
	}
	return sum, nil
}

// wrong unreleased: a reader that waits for itself as a writer
func upgrades(ctx context.Context, l locks.RWLock, c design.CellRef) error {
	if err := l.RLock(ctx); err != nil {
		return err
	}
	defer l.RUnlock()
	if c.GetSum(0) > 0 {
		return nil
	}
	if err := l.Lock(ctx); err != nil {
		return err
	}
	defer l.Unlock()
	c.PutSum(0, 1)
	return nil
}

// right: a cache is looked at by readers, and filled by a writer
func looksThenFills(ctx context.Context, l locks.RWLock, c design.CellRef) (float64, error) {
	if err := l.RLock(ctx); err != nil {
		return 0, err
	}
	v := c.GetSum(0)
	l.RUnlock()
	if v != 0 {
		return v, nil
	}
	if err := l.Lock(ctx); err != nil {
		return 0, err
	}
	defer l.Unlock()
	c.PutSum(0, 1)
	return 1, nil
}

// wrong unreleased: continue keeps one of two locks of a service
func moves(ctx context.Context, locks *locks.Service, from, to string, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		if err := locks.Lock(ctx, from); err != nil {
			return err
		}
		if s.At(i).Get(0) == 0 {
			continue
		}
		if err := locks.Lock(ctx, to); err != nil {
			return err
		}
		s.At(i).Put(0, 0)
		locks.Unlock(to)
		locks.Unlock(from)
	}
	return nil
}

// right: a lock of a service for each name
func each(ctx context.Context, locks *locks.Service, names []string, s pgas.Sym[int64]) error {
	for i, name := range names {
		if err := locks.RLock(ctx, name); err != nil {
			return err
		}
		if s.At(i).Get(0) == 0 {
			locks.RUnlock(name)
			continue
		}
		locks.RUnlock(name)
	}
	return nil
}

// wrong unreleased: a loop that ends while it holds the lock
func drains(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	for {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		left := s.At(0).Get(0)
		if left == 0 {
			return nil
		}
		s.At(0).Put(0, left-1)
		l.Unlock()
	}
}

// right: a deferred unlock in a function literal
func literal(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		err := func() error {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			defer l.Unlock()
			if s.At(i).Get(0) == 0 {
				return nil
			}
			s.At(i).Put(0, 0)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// right: the lock is released before the loop goes on, and taken again
func handOver(ctx context.Context, l locks.Lock, work func(int) error) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	for i := range 10 {
		l.Unlock()
		if err := work(i); err != nil {
			return err
		}
		if err := l.Lock(ctx); err != nil {
			return err
		}
	}
	l.Unlock()
	return nil
}

// right: a lock that is locked under a condition, and unlocked under the same
func conditional(ctx context.Context, l locks.Lock, c design.CellRef, shared bool) error {
	if shared {
		if err := l.Lock(ctx); err != nil {
			return err
		}
	}
	c.PutSum(0, 1)
	if shared {
		l.Unlock()
	}
	return nil
}

// wrong unreleased: the lock is taken again while it is held
func twice(ctx context.Context, l locks.Lock, s pgas.Sym[int64]) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	s.At(0).Put(0, 1)
	if err := l.Lock(ctx); err != nil {
		return err
	}
	l.Unlock()
	return nil
}

// right: a lock for each element
func hashed(ctx context.Context, table []locks.Lock, s pgas.Sym[int64]) error {
	for i := range s.Len() {
		l := table[i%len(table)]
		if err := l.Lock(ctx); err != nil {
			return err
		}
		s.At(i).Put(0, 0)
		l.Unlock()
	}
	return nil
}

// wrong unstarted: a request that is not started
func waits(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	r := notify.New(w, notify.Any, 1, 1)
	defer r.Free()
	if _, err := r.Wait(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// right: a request that is started
func waitsRight(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (int64, error) {
	r := notify.New(w, notify.Any, 1, 1)
	defer r.Free()
	r.Start()
	if _, err := r.Wait(ctx); err != nil {
		return 0, err
	}
	return s.Local()[0], nil
}

// wrong unstarted: a test of a request that is not started
func tests(w *pgas.World) {
	r := notify.New(w, notify.Any, 1, 1)
	for {
		if _, ok := r.Test(); ok {
			break
		}
		w.Yield()
	}
	r.Free()
}

// wrong unstarted: one of two is not started
func waitsAll(ctx context.Context, w *pgas.World) error {
	a, b := notify.New(w, 0, 1, 1), notify.New(w, 1, 1, 1)
	a.Start()
	if _, err := a.Wait(ctx); err != nil {
		return err
	}
	_, err := b.Wait(ctx)
	return err
}

// wrong unstarted: each round waits, but only the first one starts
func rounds(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (sum int64, err error) {
	r := notify.New(w, notify.Any, 1, w.NPEs())
	r.Start()
	for range 10 {
		if _, err := r.Wait(ctx); err != nil {
			return 0, err
		}
		sum += s.Local()[0]
	}
	r.Free()
	return sum, nil
}

// right: each round starts and waits
func roundsRight(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (sum int64, err error) {
	r := notify.New(w, notify.Any, 1, w.NPEs())
	for range 10 {
		r.Start()
		if _, err := r.Wait(ctx); err != nil {
			return 0, err
		}
		sum += s.Local()[0]
	}
	r.Free()
	return sum, nil
}

// right: a helper starts the request
func startedByHelper(ctx context.Context, w *pgas.World) error {
	r := notify.New(w, notify.Any, 1, 1)
	begin(r)
	_, err := r.Wait(ctx)
	return err
}

func begin(r *notify.Request) { r.Start() }

// right: requests in a slice
func startedInSlice(ctx context.Context, w *pgas.World) error {
	var rs []*notify.Request
	for pe := range w.NPEs() {
		r := notify.New(w, pe, 1, 1)
		r.Start()
		rs = append(rs, r)
	}
	return notify.WaitAll(ctx, rs...)
}

// wrong afterfree: a put after Free
func putAfter(ctx context.Context, s pgas.Sym[int64]) error {
	if err := s.Free(ctx); err != nil {
		return err
	}
	s.At(0).Put(1, 1)
	return nil
}

// wrong afterfree: own memory kept across Realloc
func kept(ctx context.Context, s pgas.Sym[int64]) (int64, error) {
	mine := s.Local()
	bigger, err := s.Realloc(ctx, 100)
	if err != nil {
		return 0, err
	}
	return mine[0] + bigger.Local()[1], nil
}

// right: the variable is set again
func again(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (err error) {
	for range 3 {
		if err := s.Free(ctx); err != nil {
			return err
		}
		if s, err = pgas.Alloc[int64](ctx, w, 10); err != nil {
			return err
		}
		s.At(0).Put(0, 1)
	}
	return nil
}

// wrong stackcopy: a copy is changed
func changesCopy(cells design.CellSym) {
	c := *cells.At(0).Local()
	c.Sum = 5
}

// right: the memory itself is changed
func changesMemory(cells design.CellSym) {
	c := cells.At(0).Local()
	c.Sum = 5
}

// wrong signalcount: chunk by chunk, by one count of all senders
func chunks(ctx context.Context, w *pgas.World, inbox pgas.Sym[int64], sig pgas.SignalRef) (sum int64, err error) {
	v := int64(w.PE())
	inbox.At(w.PE()).PutSignalAdd(0, &v, sig, 1)
	if w.PE() == 0 {
		for k := range w.NPEs() {
			if _, err := sig.WaitUntil(ctx, pgas.GE, uint64(k)+1); err != nil {
				return 0, err
			}
			sum += inbox.Local()[k]
		}
	}
	return sum, nil
}

// right: all first, then all chunks
func chunksRight(ctx context.Context, w *pgas.World, inbox pgas.Sym[int64], sig pgas.SignalRef) (sum int64, err error) {
	v := int64(w.PE())
	inbox.At(w.PE()).PutSignalAdd(0, &v, sig, 1)
	if w.PE() == 0 {
		if _, err := sig.WaitUntil(ctx, pgas.GE, uint64(w.NPEs())); err != nil {
			return 0, err
		}
		for _, v := range inbox.Local() {
			sum += v
		}
		fmt.Println(sum)
	}
	return sum, nil
}
