package pgas_test

// Messages and reports use the program's names for words and locks.

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/capture"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// Tally is a record as pgasgen would have it.
type Tally struct {
	Count int64
	Ready [2]pgas.Signal
	Doors [3]struct {
		_    int64
		Lock pgas.Lock
	}
}

const (
	readyOff = 8
	lockOff  = 8 + 16 + 32 + 8 // Doors[1].Lock
)

func TestNames(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		one, err := pgas.Alloc[Tally](ctx, w, 1)
		if err != nil {
			return err
		}
		plain, err := pgas.Alloc[int32](ctx, w, 9)
		if err != nil {
			return err
		}
		many, err := pgas.Alloc[Tally](ctx, w, 5)
		if err != nil {
			return err
		}
		soon, cancel := w.WithTimeout(ctx, time.Microsecond)
		defer cancel()
		for want, wait := range map[string]func() error{
			`waiting for Tally\.Ready\[0\] \(offset 0x1000008\).* at pgas/names_test\.go:\d+: `: func() error {
				_, err := pgas.FieldSignal(one.At(0), readyOff).WaitUntil(soon, pgas.EQ, 7)
				return err
			},
			`waiting for Tally\[3\]\.Ready\[1\] \(offset 0x[0-9a-f]+\)`: func() error {
				_, err := pgas.FieldSignal(many.At(3), readyOff+8).WaitUntil(soon, pgas.EQ, 7)
				return err
			},
			`waiting for int32\[8\] allocated at pgas/names_test\.go:\d+ \(offset 0x[0-9a-f]+\)`: func() error {
				_, err := pgas.AtomicOf(plain, 8).WaitUntil(soon, pgas.EQ, -7)
				return err
			},
			`waiting for Tally\[4\]\.Doors\[1\]\.Lock \(offset 0x[0-9a-f]+\) at pgas/names_test\.go:\d+: `: func() error {
				over, cancel := context.WithCancel(ctx)
				cancel()
				return pgas.FieldLock(many.At(4), lockOff).Lock(over)
			},
			`quiet at pgas/names_test\.go:\d+: `: func() error {
				over, cancel := context.WithCancel(ctx)
				cancel()
				return w.Quiet(over)
			},
		} {
			if err := wait(); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
				return fmt.Errorf("got %v, want %s", err, want)
			}
		}
		return w.Barrier(ctx)
	})
}

// waitsForNames blocks in a wait on PE 0, in a lock on PE 1, and in a barrier on PE 2.
func waitsForNames(ctx context.Context, w *pgas.World) error {
	one, err := pgas.Alloc[Tally](ctx, w, 1)
	if err != nil {
		return err
	}
	lock := pgas.FieldLock(one.At(0), lockOff)
	if w.PE() == 2 {
		if err := lock.Lock(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	switch w.PE() {
	case 0:
		_, err = pgas.FieldSignal(one.At(0), readyOff).WaitUntil(ctx, pgas.EQ, 7)
	case 1:
		err = lock.Lock(ctx)
	case 2:
		err = w.Barrier(ctx) //pgasvet:ok nobody comes: all wait, each for something else
	}
	return err
}

// The launcher's table of what each PE is blocked in has names, and the sites of the program's calls.
func TestNamesInTable(t *testing.T) {
	asPE(t, waitsForNames)
	withoutRaces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var said capture.Output
	signals := make(chan os.Signal)
	wants := []*regexp.Regexp{
		regexp.MustCompile(`PE 0: in wait on Tally\.Ready\[0\] \(at 0x1000008 of its heap\), called at pgas/names_test\.go:\d+`),
		regexp.MustCompile(`PE 1: in lock Tally\.Doors\[1\]\.Lock \(at 0x1000040 of the heap\), waiting for PE 2, called at pgas/names_test\.go:\d+`),
		regexp.MustCompile(`PE 2: in barrier number \d+, waiting for PE \d, called at pgas/names_test\.go:\d+`),
	}
	complete := func() bool {
		for _, want := range wants {
			if !want.MatchString(said.String()) {
				return false
			}
		}
		return true
	}
	go func() {
		for !complete() && ctx.Err() == nil {
			select {
			case signals <- unix.SIGQUIT:
				time.Sleep(5 * time.Millisecond)
			case <-ctx.Done():
			}
		}
		signals <- unix.SIGTERM
	}()
	_, err = launch.Run(ctx, launch.Spec{
		Hosts: []boot.Host{{Name: launch.Local, PEs: 3}}, Program: self, Args: []string{"-test.run=^TestNamesInTable$"},
		Env:    []string{peOfTest + "=TestNamesInTable", "PGAS_HEAP_MAX=16m"},
		Stderr: &said, Signals: signals, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if err != nil || !complete() {
		t.Errorf("%v: %s", err, said.String())
	}
}
