package main

// How a job is run with everything that the command line asks to be told of it: each flag of that kind has an observer,
// in a file of its own.

import (
	"errors"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// An observer is told of a job, for one flag.
type observer interface {
	// open makes what it needs, such as files. The job does not start if it returns an error, unless that is a
	// runsWithout: then the job runs without the observer.
	open(job *launch.Spec) error
	// attach has the launcher tell the observer of the job.
	attach(job *launch.Spec)
	// finish is called at the end. It may raise the exit status.
	finish(end *ending)
}

// runsWithout is why a job has to do without an observer.
type runsWithout struct{ error }

// ending is how a job has ended.
type ending struct {
	launch.Result
	err    error // the error of the launcher
	npes   int
	status int // the exit status of pgasrun
}

// observe runs a job with its observers. Observers are opened and finished in their order.
func observe(observers []observer, spec launch.Spec, run func(launch.Spec) (launch.Result, error)) ending {
	end := ending{npes: npes(spec.Hosts)}
	var opened []observer
	for _, w := range observers {
		err := w.open(&spec)
		switch {
		case errors.As(err, new(runsWithout)):
			complain(err, 0)
			continue
		case err != nil:
			end.err, end.status = err, complain(err, statusFailed)
			finish(opened, &end)
			return end
		}
		opened = append(opened, w)
	}
	for _, w := range opened {
		w.attach(&spec)
	}
	end.Result, end.err = run(spec)
	if end.PEs > 0 {
		end.npes = end.PEs
	}
	end.status = statusOf(end.Result, end.err)
	if end.First != nil && !end.First.AfterUserSignal() {
		fmt.Fprint(os.Stderr, "pgasrun: ", end.First)
	}
	if end.err != nil {
		complain(end.err, 0)
	}
	finish(opened, &end)
	return end
}

func finish(observers []observer, end *ending) {
	for _, w := range observers {
		w.finish(end)
	}
}

// statusOf returns the exit status of pgasrun after a job.
func statusOf(res launch.Result, err error) int {
	switch {
	case errors.As(err, new(errTimeout)):
		return statusTimeout
	case err != nil:
		return max(res.Status, statusFailed)
	}
	return res.Status
}
