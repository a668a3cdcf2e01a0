package programs

// Locks that do not protect.

import (
	"context"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

func lock() []pair {
	return []pair{
		{3, lockOfOneOnly}, {3, otherLock}, {3, unlockTooEarly}, {3, unlockWithContext}, {2, tryLockIgnored},
		{3, readWithoutLock}, {3, otherName}, {3, writeUnderRLock}, {3, lockWithoutQuiet},
	}
}

func heldLocks(ctx context.Context, w *pgas.World) pgas.Sym[pgas.Lock] {
	return seen(pgas.Alloc[pgas.Lock](ctx, w, 2))
}

func lockOfOneOnly(ctx context.Context, w *pgas.World, right bool) error {
	data, l := numbers(ctx, w), pgas.LockOf(heldLocks(ctx, w), 0)
	switch w.PE() {
	case 0:
		must(l.Lock(ctx))
		data.At(0).Put(2, 7) // first
		must(l.Unlock())
	case 1:
		if right {
			must(l.Lock(ctx))
		}
		data.At(0).Put(2, 8) // then
		if right {
			must(l.Unlock())
		}
	}
	return w.Barrier(ctx)
}

func otherLock(ctx context.Context, w *pgas.World, right bool) error {
	data, held := numbers(ctx, w), heldLocks(ctx, w)
	l := pgas.LockOf(held, w.PE()%2)
	if right {
		l = pgas.LockOf(held, 1)
	}
	if w.PE() < 2 {
		must(l.Lock(ctx))
		v := data.At(0).Get(2) // first
		data.At(0).Put(2, v+1) // then
		must(l.Unlock())
	}
	must(w.Barrier(ctx))
	if w.PE() == 2 && right {
		want(ctx, data.Local()[0], 2)
	}
	return nil
}

func unlockTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data, l := numbers(ctx, w), pgas.LockOf(heldLocks(ctx, w), 0)
	if w.PE() < 2 {
		must(l.Lock(ctx))
		v := data.At(0).Get(2) // first
		if !right {
			must(l.Unlock())
		}
		data.At(0).Put(2, v+1) // then
		if right {
			must(l.Unlock())
		}
	}
	return w.Barrier(ctx)
}

// unlockWithContext: Unlock completes the operations of the default Context only.
func unlockWithContext(ctx context.Context, w *pgas.World, right bool) error {
	data, l := numbers(ctx, w), pgas.LockOf(heldLocks(ctx, w), 0)
	c := seen(w.NewContext())
	if w.PE() < 2 {
		must(l.Lock(ctx))
		data.On(c).Put(2, []int64{7, 8}) // first and then
		if right {
			must(c.Quiet(ctx))
		}
		must(l.Unlock())
	}
	must(c.Close())
	return w.Barrier(ctx)
}

func tryLockIgnored(ctx context.Context, w *pgas.World, right bool) error {
	data, l, sigs := numbers(ctx, w), pgas.LockOf(heldLocks(ctx, w), 0), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		must(l.Lock(ctx))
	}
	must(w.Sync(ctx))
	if w.PE() == 0 {
		data.At(0).Put(0, 7) // first
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		return errorOf(l.Unlock(), w.Barrier(ctx))
	}
	if right {
		if l.TryLock() {
			data.At(0).Put(0, 8)
			must(l.Unlock())
		}
	} else {
		l.TryLock()
		data.At(0).Put(0, 8) // then
	}
	w.Fence()
	sig.Set(0, 1)
	return w.Barrier(ctx)
}

// errorOf returns the first error.
func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readWithoutLock(ctx context.Context, w *pgas.World, right bool) error {
	data, l := numbers(ctx, w), pgas.LockOf(heldLocks(ctx, w), 1)
	switch w.PE() {
	case 0:
		must(l.Lock(ctx))
		data.Put(2, []int64{7, 7}) // first
		must(l.Unlock())
	case 1:
		var got [2]int64
		if right {
			must(l.Lock(ctx))
		}
		data.Get(2, got[:]) // then
		if right {
			must(l.Unlock())
		}
		want(ctx, got[0], got[1])
	}
	return w.Barrier(ctx)
}

func otherName(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	svc := seen(locks.NewService(ctx, w, locks.ServiceOptions{}))
	name := "account"
	if !right && w.PE() == 1 {
		name = "Account"
	}
	if w.PE() < 2 {
		must(svc.Lock(ctx, name))
		data.At(0).Put(2, 7) // first and then
		must(w.Quiet(ctx))
		svc.Unlock(name)
	}
	must(w.Barrier(ctx))
	return svc.Free(ctx)
}

func writeUnderRLock(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	l := seen(locks.AllocRMARW(ctx, w, locks.RMARWOptions{}))
	if w.PE() < 2 {
		if right {
			must(l.Lock(ctx))
		} else {
			must(l.RLock(ctx))
		}
		data.At(0).Put(2, 7) // first and then
		must(w.Quiet(ctx))
		if right {
			l.Unlock()
		} else {
			l.RUnlock()
		}
	}
	return w.Barrier(ctx)
}

// lockWithoutQuiet has a lock whose Unlock does not complete what the PE has issued on a Context of its own.
func lockWithoutQuiet(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	l := seen(locks.AllocSpin(ctx, w, locks.SpinOptions{}))
	c := seen(w.NewContext(pgas.Private()))
	if w.PE() < 2 {
		must(l.Lock(ctx))
		data.At(0).On(c).Put(2, 7) // first and then
		if right {
			must(c.Quiet(ctx))
		}
		l.Unlock()
	}
	must(c.Close())
	return w.Barrier(ctx)
}
