// Package fences has views that are used after fences, and others that are taken again.
package fences

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/coherent"
	"github.com/gopgas/gopgas/dsm"
)

func afterBarrier(ctx context.Context, r *dsm.Region, a dsm.Array[int]) (int, error) {
	v := a.View(0, 10)
	before := v[0]
	if err := r.Barrier(ctx); err != nil {
		return 0, err
	}
	return before + v[1], nil // want `the result of View is used after Region.Barrier, which ends it: .*; call View again after the fence`
}

func takenAgain(ctx context.Context, r *dsm.Region, a dsm.Array[int]) (int, error) {
	v := a.View(0, 10)
	sum := v[0]
	if err := r.Barrier(ctx); err != nil {
		return 0, err
	}
	v = a.View(0, 10)
	return sum + v[0], nil
}

func inALoop(ctx context.Context, m dsm.Member, a dsm.Array[int]) error {
	mine := a.Update(m.Share(a.Len()))
	for range 10 {
		for i := range mine {
			mine[i]++ // want `the result of Update is used after Member.Barrier`
		}
		if err := m.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func takenInTheLoop(ctx context.Context, m dsm.Member, a dsm.Array[int]) error {
	for range 10 {
		mine := a.Update(m.Share(a.Len()))
		for i := range mine {
			mine[i]++
		}
		if err := m.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func takenAgainAtTheEndOfTheLoop(ctx context.Context, m dsm.Member, a dsm.Array[int]) error {
	mine := a.Overwrite(0, 10)
	for range 10 {
		mine[0] = 1
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		mine = a.Update(0, 10)
	}
	return nil
}

func takenAgainOnOnePathOnly(ctx context.Context, m dsm.Member, a dsm.Array[int], again bool) error {
	mine := a.Update(0, 10)
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	if again {
		mine = a.Update(0, 10)
	}
	mine[0] = 1 // want `the result of Update is used after Member.Barrier`
	return nil
}

func onePathHasAFence(ctx context.Context, m dsm.Member, a dsm.Array[int], fence bool) error {
	mine := a.Update(0, 10)
	if fence {
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		return nil
	}
	mine[0] = 1
	return nil
}

func lengthsAndCopies(ctx context.Context, m dsm.Member, a dsm.Array[int]) (int, error) {
	v := a.View(0, 10)
	own := append([]int(nil), v...)
	first := v[0]
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	return len(v) + cap(v) + own[0] + first, nil
}

func slices(ctx context.Context, m dsm.Member, a dsm.Array[int]) (int, error) {
	s := a.Slice()
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	return s[0], nil // a Slice is valid until Close
}

func locks(ctx context.Context, l *dsm.Mutex, rw *dsm.RWMutex, a dsm.Array[int]) error {
	before := a.Update(0, 10)
	if err := l.Lock(ctx); err != nil {
		return err
	}
	before[0]++ // want `the result of Update is used after Mutex.Lock`
	within := a.Update(0, 10)
	within[0]++
	l.Unlock()
	within[1]++ // want `the result of Update is used after Mutex.Unlock`
	if err := rw.RLock(ctx); err != nil {
		return err
	}
	v := a.View(0, 10)
	fmt.Println(v)
	rw.RUnlock()
	fmt.Println(v) // want `the result of View is used after RWMutex.RUnlock`
	return nil
}

func deferred(ctx context.Context, l *dsm.Mutex, a dsm.Array[int]) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	defer l.Unlock()
	mine := a.Update(0, 10)
	mine[0]++
	return nil
}

func events(ctx context.Context, e *dsm.Event, a dsm.Array[int], next int) error {
	mine := a.Update(0, 10)
	mine[0] = 1
	if err := e.Set(ctx, next); err != nil {
		return err
	}
	part := mine[2:4]
	part[0] = 2 // want `the result of Update is used after Event.Set`
	v := a.View(0, 10)
	if err := e.Wait(ctx, next); err != nil {
		return err
	}
	consume(v) // want `the result of View is used after Event.Wait`
	return nil
}

func consume([]int) {}

func byHand(ctx context.Context, r *dsm.Region, a dsm.Array[int], n dsm.Notice) error {
	p := a.Write(3)
	*p = 1
	if _, err := r.Release(ctx); err != nil {
		return err
	}
	*p = 2 // want `the result of Write is used after Region.Release`
	q := a.Read(3)
	r.Acquire(n)
	fmt.Println(*q) // want `the result of Read is used after Region.Acquire`
	return nil
}

func step(ctx context.Context, m dsm.Member) error { return m.Barrier(ctx) }

func inAHelper(ctx context.Context, m dsm.Member, a dsm.Array[int]) error {
	v := a.View(0, 10)
	if err := step(ctx, m); err != nil {
		return err
	}
	consume(v) // want `the result of View is used after step, which has a fence`
	return nil
}

func captured(ctx context.Context, r *dsm.Region, a dsm.Array[int]) error {
	v := a.View(0, 10)
	err := r.Run(ctx, 1, func(ctx context.Context, m dsm.Member) error {
		consume(v)
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		consume(v) // want `the result of View is used after Member.Barrier`
		return nil
	})
	consume(v) // want `the result of View is used after a function literal, which has a fence`
	return err
}

func generated(ctx context.Context, r *dsm.Region, bodies coherent.BodyArray) (float64, error) {
	v := bodies.View(0, 10)
	m := v[0].Mass
	if err := r.Barrier(ctx); err != nil {
		return 0, err
	}
	m += bodies.At(1).Mass()
	return m + v[1].Mass, nil // want `the result of View is used after Region.Barrier`
}

func ofAnyType[T any](ctx context.Context, r *dsm.Region, a dsm.Array[T]) (T, error) {
	v := a.View(0, 10)
	if err := r.Barrier(ctx); err != nil {
		return *new(T), err
	}
	return v[0], nil // want `the result of View is used after Region.Barrier`
}
