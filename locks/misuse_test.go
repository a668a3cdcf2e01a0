package locks_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A misuse is a call that panics with *pgas.UsageError. The call stands on the line that the first field names.
type misuse struct {
	line int
	want string // a part of the message
	call func()
}

// here returns the line of its caller.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// check makes the call and looks at its panic.
func (m misuse) check() error {
	at := fmt.Sprintf("locks/misuse_test.go:%d", m.line)
	switch err := panicIn(m.call); {
	case err == nil:
		return fmt.Errorf("%s: no *pgas.UsageError", at)
	case err.At != at:
		return fmt.Errorf("%s: At is %q in %q", at, err.At, err)
	case !strings.Contains(err.Error(), m.want):
		return fmt.Errorf("%s: %q does not say %q", at, err, m.want)
	}
	return nil
}

// TestMisuseNamesTheLine: the *pgas.UsageError of each misuse says what is wrong, and names the line of the program: of
// bad options, of handles that are zero or do not hold the lock, and of a nil context.Context.
func TestMisuseNamesTheLine(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		inNew, err1 := misusesOfNew(ctx, w)
		ofLocks, err2 := misusesOfLocks(ctx, w)
		return errors.Join(err1, err2, check(slices.Concat(inNew, ofLocks)), misuseService(ctx, w))
	})
}

// check checks all of them.
func check(all []misuse) (err error) {
	for _, m := range all {
		err = errors.Join(err, m.check())
	}
	return err
}

// misusesOfNew returns calls with options that no lock can have. It is collective.
func misusesOfNew(ctx context.Context, w *pgas.World) ([]misuse, error) {
	alock, err1 := locks.AllocALockState(ctx, w, 1)
	dmcs, err2 := locks.AllocDMCSState(ctx, w, 1)
	ncosed, err3 := locks.AllocNCoSEDState(ctx, w, 1)
	srsl, err4 := locks.AllocSRSLState(ctx, w, 1)
	inbox, err5 := pgas.Alloc[int64](ctx, w, w.NPEs())
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	all, short := inbox.Range(0, inbox.Len()), inbox.Range(0, 1)
	return []misuse{
		{here(), "home 2 is no PE", func() { locks.NewDMCS(w, dmcs.At(0), locks.DMCSOptions{Home: 2}) }},
		{here(), "home -1 is no PE", func() { locks.NewALock(w, alock.At(0), locks.ALockOptions{Home: -1}) }},
		{here(), "home 7 is no PE", func() { locks.NewSRSL(w, srsl.At(0), all, locks.SRSLOptions{Home: 7}) }},
		{here(), "budgets of -1 and 0", func() { locks.NewALock(w, alock.At(0), locks.ALockOptions{RemoteBudget: -1}) }},
		{here(), "limit -3", func() { locks.NewNCoSED(w, ncosed.At(0), locks.NCoSEDOptions{Limit: -3}) }},
		{here(), "the inbox has 1 word", func() { locks.NewSRSL(w, srsl.At(0), short, locks.SRSLOptions{}) }},
		{here(), "neither can be negative", func() { locks.NewService(ctx, w, locks.ServiceOptions{Places: -1}) }},
		{here(), "a table of 0 locks", func() { locks.AllocTable(ctx, w, 0, locks.TableOptions{}) }},
		{here(), "kind 9", func() { locks.AllocTable(ctx, w, 1, locks.TableOptions{Kind: 9}) }},
	}, nil
}

// misusesOfLocks returns wrong calls of the methods of locks. It is collective.
func misusesOfLocks(ctx context.Context, w *pgas.World) (all []misuse, err error) {
	var none context.Context
	var free []locks.Lock
	for _, k := range kinds.All() {
		l, _, err := k.Alloc(ctx, w, kinds.Options{})
		if err != nil {
			return nil, err
		}
		if s, ok := l.(*locks.SRSL); ok && w.PE() != 0 {
			all = append(all, misuse{here(), "is not the home of the lock", func() { s.Serve(ctx) }})
		}
		free = append(free, l)
	}
	for _, l := range free {
		all = append(all,
			misuse{here(), "does not hold the lock", func() { l.Unlock() }},
			misuse{here(), "context.Context is nil", func() { l.Lock(none) }})
		if rw, ok := l.(locks.RWLock); ok {
			all = append(all,
				misuse{here(), "does not hold the lock", func() { rw.RUnlock() }},
				misuse{here(), "context.Context is nil", func() { rw.RLock(none) }})
		}
	}
	for _, l := range free {
		l = reflect.New(reflect.TypeOf(l).Elem()).Interface().(locks.Lock)
		all = append(all,
			misuse{here(), "a zero handle", func() { l.Lock(ctx) }},
			misuse{here(), "a zero handle", func() { l.TryLock() }},
			misuse{here(), "does not hold the lock", func() { l.Unlock() }})
		if rw, ok := l.(locks.RWLock); ok {
			all = append(all,
				misuse{here(), "a zero handle", func() { rw.RLock(ctx) }},
				misuse{here(), "a zero handle", func() { rw.TryRLock() }},
				misuse{here(), "does not hold the lock", func() { rw.RUnlock() }})
		}
	}
	return all, nil
}

// misuseService makes wrong calls of a Service. It is collective.
func misuseService(ctx context.Context, w *pgas.World) error {
	s, err := locks.NewService(ctx, w, locks.ServiceOptions{})
	if err != nil {
		return err
	}
	var none context.Context
	var zero locks.Service
	own := fmt.Sprintf("own %d", w.PE())
	if err := s.RLock(ctx, own); err != nil {
		return err
	}
	defer s.RUnlock(own)
	return check([]misuse{
		{here(), `this PE does not hold "nothing"`, func() { s.Unlock("nothing") }},
		{here(), `this PE does not hold "nothing"`, func() { s.RUnlock("nothing") }},
		{here(), "does not hold the lock", func() { s.Unlock(own) }},
		{here(), "context.Context is nil", func() { s.Lock(none, own) }},
		{here(), "context.Context is nil", func() { s.RLock(none, own) }},
		{here(), "context.Context is nil", func() { s.Holder(none, own) }},
		{here(), "a zero handle", func() { zero.Lock(ctx, own) }},
		{here(), "a zero handle", func() { zero.TryLock(own) }},
		{here(), "a zero handle", func() { zero.Waiting(ctx, own) }},
		{here(), "does not hold", func() { zero.Unlock(own) }},
	})
}

// panicIn returns the *pgas.UsageError that call panics with, or nil.
func panicIn(call func()) (misuse *pgas.UsageError) {
	defer func() {
		misuse, _ = recover().(*pgas.UsageError)
	}()
	call()
	return nil
}
