package pgastest

// PEs as goroutines of the test process, over a segment in Go memory. The race detector sees every access. To it an
// operation of a PE on another PE's memory goes on after the call, until a fence, a quiet or a wait orders it. So two
// PEs that touch one word with nothing between them that orders the two fail the test. In memory a put is a store at
// once, as between processes of one host.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/private"
)

// heapMax is what the heap of a goroutine PE may grow to by default. It is Go memory, untouched until used.
const heapMax = 64 << 20

// jobSettings returns what the environment says, with the size of the heap of a goroutine PE: heapMax by default.
func jobSettings() (boot.Settings, error) {
	set, err := boot.ParseSettings(os.Environ())
	if set.HeapMax == 0 {
		set.HeapMax = heapMax
	}
	set.HeapMax = boot.RoundHeap(set.HeapMax)
	return set, err
}

// Options change how the PEs of a test are put together. The zero value is what programs get.
type Options struct {
	NoFastPath bool // every access goes through a transport
	Check      bool // every access is checked, as PGAS_CHECK=1 does
	Races      bool // races between PEs are looked for, as with PGAS_CHECK=race, and are an error: see RacesError
	Stats      bool // PEs count what they do, as with PGAS_STATS=1

	// Seed is what Late draws the order and the moments of operations from. With 0 all is as late as it may be.
	Seed uint64
}

// Goroutines runs body on npes PEs that are goroutines of this process, and returns the first error of a body, of
// pgas.Open or of Close. An error that only reports another PE's failure is returned if there is no other. Races that
// have been found are part of the error, whether or not a body has failed.
func Goroutines(ctx context.Context, npes int, opts Options, body Body) error {
	set, err := jobSettings()
	if err != nil {
		return err
	}
	seg := boot.NewSegment(npes, npes, set.HeapMax)
	own, end := peContexts(ctx, npes)
	defer end()
	errs := make([]error, npes)
	races := newRaces(npes, opts.Races)
	var wg sync.WaitGroup
	for pe := range npes {
		wg.Go(func() {
			errs[pe] = fmt.Errorf("PE %d: the body has ended its goroutine (runtime.Goexit does, and FailNow of a test): it is to return an error instead", pe)
			defer func() {
				if errs[pe] != nil {
					seg.Fail(pe, exitStatus1) // wakes the other PEs, which would wait for ever
				}
			}()
			errs[pe] = runPE(own[pe], &boot.Job{
				ID: "goroutines", PE: pe, NPEs: npes,
				Hosts:   []boot.Host{{Name: "localhost", PEs: npes}},
				Segment: seg, Launched: true,
				Settings: boot.Settings{Stats: opts.Stats},
			}, private.Options{
				Goroutines: true, NoFastPath: opts.NoFastPath, Check: opts.Check, Races: races.job,
				// The locks of the detector by clocks would order strands.
				Strands: set.RaceForm == boot.RaceStrands && !opts.Races,
			}, body)
		})
	}
	wg.Wait()
	return errors.Join(races.err(), rootCause(errs))
}

// peContexts returns a context for each PE, and a function that ends them all. Each ends when ctx does, and has its
// cause, its deadline and its values. They share no lock: whatever derives a context from another one, as World.Go and
// World.WithTimeout do, takes the lock of that one, so the lock of a common context would order the PEs for the race
// detector.
func peContexts(ctx context.Context, npes int) (own []context.Context, end func()) {
	var ends []func()
	for range npes {
		alone, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		ends = append(ends, func() { stop(); cancel(nil) })
		own = append(own, peContext{alone, ctx})
	}
	return own, func() {
		for _, end := range ends {
			end()
		}
	}
}

// peContext is the context of one PE.
type peContext struct {
	context.Context
	common context.Context
}

// Deadline returns the deadline of the context of all PEs.
func (c peContext) Deadline() (time.Time, bool) { return c.common.Deadline() }

// exitStatus1 is the wait status of a process that ended with status 1.
const exitStatus1 = 1 << 8

func runPE(ctx context.Context, job *boot.Job, opts private.Options, body Body) (err error) {
	var w *pgas.World
	defer func() {
		if p := recover(); p != nil {
			err = panicError(w, job.PE, p)
		}
	}()
	opened, err := private.Open(ctx, job, opts)
	if err != nil {
		return fmt.Errorf("PE %d: %w", job.PE, err)
	}
	w = opened.(*pgas.World)
	if err := body(private.Node(w).Races.In(ctx), w); err != nil {
		return errors.Join(fmt.Errorf("PE %d: %w", job.PE, err), w.Abandon())
	}
	return w.Close()
}

func panicError(w *pgas.World, pe int, p any) error {
	if err := w.Recovered(p); err != nil {
		return fmt.Errorf("PE %d: %w", pe, err)
	}
	return fmt.Errorf("PE %d: panic: %v\n%s", pe, p, debug.Stack())
}

// rootCause returns the first error that is not about another PE, otherwise the last one that is.
func rootCause(errs []error) error {
	var echo error
	for _, err := range errs {
		var peer *pgas.PeerError
		var aborted *pgas.AbortedError
		switch {
		case err == nil:
		case errors.As(err, &peer), errors.As(err, &aborted):
			echo = err
		default:
			return err
		}
	}
	return echo
}
