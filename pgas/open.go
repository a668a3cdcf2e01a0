package pgas

// How a program becomes a PE: Main for whole programs, Init for those that keep their own main.

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/ucp"
)

// Main runs body on this PE of the job and exits the process: with status 0 when body returned nil and
// every PE got that far, with 1 and one line on stderr otherwise. Misuse (*UsageError) and lost peers
// (*PeerError) are reported in the same way when they come as panics; any other panic is the
// program's own and crashes it as usual. An interrupt ends ctx; a second one ends the process.
func Main(body func(ctx context.Context, w *World) error) {
	ctx := newBodyContext()
	job, err := fromEnv()
	if err == nil {
		err = run(ctx, job, body)
	}
	if err != nil {
		if why, _ := endReason(ctx, err); job == nil || why != boot.EndOnRequest || !job.EndRequested() {
			complain(job, err) // else the launcher says why
		}
		os.Exit(1)
	}
}

// run is what Main does, up to the error.
func run(ctx context.Context, job *boot.Job, body func(context.Context, *World) error) error {
	w, err := Open(ctx, job)
	if err != nil {
		job.EndsBy(endReason(ctx, err))
		return err
	}
	if err := guard(ctx, w, body); err != nil {
		job.EndsBy(endReason(ctx, err)) // first of all: other PEs notice the failure as soon as this one leaves
		w.Abandon()
		return err
	}
	if err := w.Close(); err != nil {
		job.EndsBy(endReason(ctx, err))
		return err
	}
	return nil
}

// endReason classifies err for the launcher, as an error of this PE or a consequence of another's. The launcher
// names the PE that failed first.
func endReason(ctx context.Context, err error) (why boot.EndReason, peer int) {
	var lost *PeerError
	var mismatch *MismatchError
	var aborted *AbortedError
	switch {
	case errors.As(err, &lost):
		return boot.EndLost, lost.PE
	case errors.As(err, &mismatch):
		return boot.EndMismatch, -1
	case ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err())):
		return boot.EndOnRequest, -1
	case errors.As(err, &aborted) && aborted.PE >= 0:
		return boot.EndLost, aborted.PE
	}
	return boot.EndOwn, -1
}

// complain prints err with the PE that it happened to. Of an error that is the same on every PE of the
// host (a full heap, a network that is not there) the first PE speaks for all.
func complain(job *boot.Job, err error) {
	if job == nil {
		fmt.Fprintln(os.Stderr, "pgas:", err)
		return
	}
	hash := fnv.New64a()
	hash.Write([]byte(err.Error()))
	if job.Segment.Header.LastReport.Swap(hash.Sum64()) != hash.Sum64() {
		fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: %v\n", job.PE, job.Host().Name, err)
	}
}

// guard turns the panics that have a meaning of ours into errors.
func guard(ctx context.Context, w *World, body func(context.Context, *World) error) (err error) {
	returned := false
	defer func() {
		p := recover()
		if p == nil && returned {
			return
		}
		if p == nil {
			exitEnded(w)
		}
		if err = w.Recovered(p); err == nil {
			w.n.Job.EndsBy(boot.EndOwn, -1)
			panic(p)
		}
	}()
	err = body(ctx, w)
	returned = true
	return err
}

// exitEnded ends the process of a PE after its body has ended its goroutine without returning. Otherwise the process
// would stay idle, and other PEs would wait for it.
func exitEnded(w *World) {
	complain(w.n.Job, &UsageError{Op: "Main", Msg: "the body has ended its goroutine (runtime.Goexit does, and FailNow of a test): it is to return an error instead"})
	w.Abandon()
	os.Exit(1)
}

// Init joins the job that the launcher describes in the environment; every PE must do so, and it
// returns when all have. Without a launcher the process is a job of one PE, and says so on stderr
// unless PGAS_QUIET_SINGLETON=1. The caller ends with World.Close.
func Init(ctx context.Context) (*World, error) {
	mustHaveContext("Init", ctx)
	job, err := fromEnv()
	if err != nil {
		return nil, err
	}
	return Open(ctx, job)
}

// fromEnv is the job of this process; one without a launcher says so.
func fromEnv() (*boot.Job, error) {
	job, err := boot.FromEnv()
	if err != nil {
		return nil, err
	}
	if !job.Launched && !job.Settings.QuietSingleton {
		fmt.Fprintf(os.Stderr, "pgas: started without a launcher: this is a job of one PE (for four: pgasrun -n 4 %s; PGAS_QUIET_SINGLETON=1 hides this line)\n", os.Args[0])
	}
	return job, nil
}

// Open joins the job described by job, with the transports that it needs: shared memory on this host,
// UCX to the others.
func Open(ctx context.Context, job *boot.Job) (*World, error) {
	var opts private.Options
	if job.Settings.Networked(len(job.Hosts)) {
		opts.Remote = openUCX
	}
	return openWith(ctx, job, opts)
}

func openUCX(ctx context.Context, job *boot.Job) (transport.Transport, error) {
	t, err := ucp.Open(ctx, job, ucp.Settings{}) // all of them from the job
	if err != nil {
		return nil, err // not t: a nil *ucp.Transport would be a non-nil Transport
	}
	return t, nil
}
