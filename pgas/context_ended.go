package pgas

// Whether a context has ended. Every call that takes a context asks that first. Asking a context costs a call
// through an interface, a quarter of a Quiet on one host. The context that Main gives to a program's body keeps
// the answer in a flag.

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// bodyContext is what Main gives to the body: it ends with the first signal that asks the job to end.
type bodyContext struct {
	context.Context
	ended atomic.Bool // set before the Context ends
}

// signalled is why a bodyContext has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.Signal.String() + " signal received" }

// newBodyContext returns a context that SIGINT and SIGTERM end. A second signal has its default action.
func newBodyContext() *bodyContext {
	inner, cancel := context.WithCancelCause(context.Background())
	ctx := &bodyContext{Context: inner}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		sig := <-signals
		signal.Stop(signals)
		ctx.ended.Store(true)
		cancel(signalled{sig})
	}()
	return ctx
}

// hasAborted reports whether ctx has ended. A nil ctx counts as ended.
func hasEnded(ctx context.Context) bool {
	if body, ok := ctx.(*bodyContext); ok {
		return body.ended.Load()
	}
	return otherEnded(ctx)
}

//go:noinline
func otherEnded(ctx context.Context) bool { return ctx == nil || ctx.Err() != nil }
