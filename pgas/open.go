package pgas

// How a process becomes a PE: by Main, or by Init if the program keeps its own main.

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/pmix"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/internal/profiles"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/ucp"
)

// Main joins the job, runs body on this PE, closes the World and, after an error, exits the process with status 1 and
// one line on stderr. It returns if body has returned nil and all PEs have left the job. Panics with *UsageError or
// *PeerError are reported as errors are; any other panic crashes the process as usual. SIGINT and SIGTERM end ctx; a
// second signal ends the process, if it comes a second later or more. After a report of a race (PGAS_CHECK=race) the
// job ends with the status of PGAS_RACE_EXIT. The error ckpt.ErrStop is none: Main closes the World as after nil, and
// exits with status 75.
func Main(body func(ctx context.Context, w *World) error) {
	ctx := newBodyContext(boot.SignalEcho)
	job, err := fromEnv(ctx)
	if err == nil {
		_, err = run(ctx, job, body)
	}
	end(ctx, job, err)
}

// Survive is Main for a process that outlives the death of other PEs, with its connections to clients and what it has
// in memory. Under pgasrun -survive, when a PE or a host is lost, the calls of the other PEs return *PeerError, and ctx
// ends. body returns the error, and Survive calls it again in the next term of the job, with a new World and a new ctx.
// So body has to end soon: pgasrun kills a process that takes longer than -grace, and starts another one in its place,
// as it does for a program of Main. Allocations, contexts and locks of a World end with it. A goroutine that uses them
// later crashes the process. World.PE and World.NPEs may be others in the next term.
//
// Otherwise Survive is as Main: it ends the process after any other error of body, and returns when body has returned
// nil and all PEs have left the job.
func Survive(body func(ctx context.Context, w *World) error) {
	ctx := newBodyContext(boot.SignalEcho)
	job, err := fromEnv(ctx)
	if err == nil && job.Terms != nil {
		err = job.Terms.Stay()
	}
	for err == nil {
		left := false
		if job.Terms != nil {
			ctx.terms <- job.Terms.Ended()
		}
		left, err = run(ctx, job, body)
		if !left || !isTermEnd(ctx, job, err) {
			break
		}
		between := make(chan os.Signal, 1) // a signal does not end a process that waits for the launcher's decision
		signal.Notify(between, os.Interrupt, syscall.SIGTERM)
		close(ctx.left)
		next, failed := job.Terms.Next(job)
		if failed != nil {
			replaceProcess(failed)
		}
		if next == nil {
			break
		}
		ctx, job, err = newBodyContext(boot.SignalEcho), next, nil
		signal.Stop(between)
	}
	end(ctx, job, err)
}

// replaceProcess ends this process, which cannot take part in the next term because of err, as if it had been killed.
// The job goes on with another one in its place.
func replaceProcess(err error) {
	fmt.Fprintf(os.Stderr, "pgas: process %d cannot take part in the next term, and another one takes its place: %v\n", os.Getpid(), err)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal is there
}

// isTermEnd reports whether err, with which this PE has left the term of job, need not end the process: another PE was
// lost, or the agent has ended the term.
func isTermEnd(ctx context.Context, job *boot.Job, err error) bool {
	if job.Terms == nil || err == nil {
		return false
	}
	why, _ := endReason(ctx, err)
	return why == boot.EndLost || why == boot.EndOnRequest && context.Cause(ctx) == errTermEnds
}

// end ends the process of a PE after err, or returns if that is nil.
func end(ctx context.Context, job *boot.Job, err error) {
	if isStop(err) {
		os.Exit(boot.StopStatus)
	}
	if err != nil {
		if why, _ := endReason(ctx, err); job == nil || why != boot.EndOnRequest || !job.EndRequested() {
			complain(job, err) // otherwise the launcher reports the reason
		}
		os.Exit(1)
	}
	if status := job.State().RaceExit.Load(); status != 0 && (job.Member != nil || !job.Launched) {
		os.Exit(int(status)) // an agent would know it
	}
}

// run joins the job, runs body and closes the World. It returns the first error, which it has classified for the
// launcher. left reports whether nothing of this process uses the memory of the job any more, but for goroutines of the
// program.
func run(ctx *bodyContext, job *boot.Job, body func(context.Context, *World) error) (left bool, err error) {
	w, err := open(ctx, job)
	if err != nil {
		job.EndsBy(endReason(ctx, err))
		return w.closed, err
	}
	w.body = ctx
	err = guard(ctx, w, body)
	if err != nil && !isStop(err) {
		job.EndsBy(endReason(ctx, err)) // before Abandon: other PEs notice the failure as soon as this one leaves
		w.Abandon()
		return w.closed, err
	}
	if failed := w.Close(); failed != nil {
		job.EndsBy(endReason(ctx, failed))
		return w.closed, failed
	}
	if err != nil {
		job.EndsBy(boot.EndStopped, -1)
	}
	return w.closed, err
}

// isStop reports whether err is hook.ErrStop, or wraps nothing else.
func isStop(err error) bool {
	for err != nil && err != hook.ErrStop {
		err = errors.Unwrap(err)
	}
	return err != nil
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

// complain prints err and the PE that it happened to. If several PEs of the host have the same error (a full heap, a
// missing network), the first PE alone prints it.
func complain(job *boot.Job, err error) {
	if job == nil {
		fmt.Fprintln(os.Stderr, "pgas:", err)
		return
	}
	text := strings.TrimPrefix(err.Error(), "pgas: ")
	hash := fnv.New64a()
	hash.Write([]byte(text))
	if job.Segment.Header.LastReport.Swap(hash.Sum64()) != hash.Sum64() {
		fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: %s\n", job.PE, job.Host().Name, text)
	}
}

// guard runs body and returns its error, or the error that its panic stands for (see Recovered). It raises any other
// panic again.
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
	err = body(w.n.Races.In(ctx), w)
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

// Init joins the job that the launcher describes in the environment. It is collective: it returns when all PEs have
// called it. Without a launcher the process is a job of one PE, and prints that to stderr unless
// PGAS_QUIET_SINGLETON=1. The caller ends with World.Close.
//
// It returns an error if a variable is unknown or malformed, or if memory or the network cannot be set up, *PeerError
// if a PE is lost, and the cause of ctx if ctx ends first. It panics with *UsageError if ctx is nil (OpenSHMEM 1.6,
// shmem_init).
func Init(ctx context.Context) (*World, error) {
	mustHaveContext("Init", ctx)
	job, err := fromEnv(ctx)
	if err != nil {
		return nil, err
	}
	return Open(ctx, job)
}

// fromEnv returns the job of this process. Without a launcher it prints that this is a job of one PE.
func fromEnv(ctx context.Context) (*boot.Job, error) {
	job, err := join.FromEnv(ctx, join.Options{OpenPMIx: openPMIx})
	if err != nil {
		return nil, err
	}
	if !job.Launched && !job.Settings.QuietSingleton {
		fmt.Fprintf(os.Stderr, "pgas: started without a launcher: this is a job of one PE (for four: pgasrun -n 4 %s; PGAS_QUIET_SINGLETON=1 hides this line)\n", os.Args[0])
	}
	return job, nil
}

func openPMIx() (join.PMIxClient, error) {
	client, err := pmix.Open()
	if err != nil {
		return nil, err // not client: a nil *pmix.Client would be a non-nil PMIxClient
	}
	return client, nil
}

// Open joins the job described by job, over shared memory to PEs of this host and over UCX to PEs of other hosts. It is
// collective, and its errors are those of Init from there on. Programs call Main or Init, which call it.
func Open(ctx context.Context, job *boot.Job) (*World, error) {
	w, err := open(ctx, job)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// open is Open, but returns the World with an error, too.
func open(ctx context.Context, job *boot.Job) (*World, error) {
	var opts private.Options
	if job.Settings.Networked(len(job.Hosts)) {
		opts.Remote = openUCX
	}
	made := profiles.Start(job)
	w, err := openWith(ctx, job, opts)
	if err != nil {
		made.Stop()
		return w, err
	}
	w.profiles = made
	return w, nil
}

// openUCX opens the transport to other hosts.
func openUCX(ctx context.Context, job *boot.Job) (transport.Transport, error) {
	t, err := ucp.Open(ctx, job, ucp.Settings{}) // the job has all settings
	if err != nil {
		return nil, err // not t: a nil *ucp.Transport would be a non-nil Transport
	}
	return t, nil
}
