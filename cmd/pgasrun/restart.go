package main

// -restart: a job that has failed is started again.

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// runAgain runs a job, and again up to some times while it fails, and returns the exit status of pgasrun.
func runAgain(times int, spec launch.Spec, run func(launch.Spec) ending) int {
	var asked atomic.Bool
	spec.Signals = noteEnd(spec.Signals, &asked)
	for again := 1; ; again++ {
		end := run(spec)
		if again > times || !end.mayGoOn() || asked.Load() {
			return end.status
		}
		fmt.Fprintf(os.Stderr, "pgasrun: starts the job again (%d of %s)\n", again, plural.Count(times, "time"))
		spec.Stdin = nil
	}
}

// mayGoOn reports whether a job that has ended so is one to start again: it ran and has failed.
func (e *ending) mayGoOn() bool {
	return e.Ran && e.status != 0 && e.status != boot.StopStatus && e.status != statusTimeout
}

// noteEnd passes signals on, and notes in asked that one was to end the job.
func noteEnd(signals <-chan os.Signal, asked *atomic.Bool) <-chan os.Signal {
	out := make(chan os.Signal, cap(signals))
	go func() {
		for sig := range signals {
			if sig == unix.SIGINT || sig == unix.SIGTERM || sig == unix.SIGHUP {
				asked.Store(true)
			}
			out <- sig
		}
	}()
	return out
}
