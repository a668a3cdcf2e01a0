package pgas

// Whether a context.Context has ended. Every call that takes one tests that first. The test costs a call through an
// interface, a quarter of a Quiet on one host. The context that Main gives to the body has a flag instead.

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// bodyContext is the context that Main and Survive give to the body. It ends with the first signal that asks the job to
// end, and with its term.
type bodyContext struct {
	context.Context
	ended atomic.Bool // set before the Context ends

	// stopLater reports whether a SIGTERM leaves the context as it is, since the program saves its state and then
	// returns. nil: it does not.
	stopLater atomic.Pointer[func() bool]
	stopAsked atomic.Bool // such a SIGTERM has come

	terms chan (<-chan struct{}) // gets the channel that is closed at the end of the term
	left  chan struct{}          // closed when the process has left the term
}

// Err is that of the Context, without its lock.
func (c *bodyContext) Err() error {
	if !c.ended.Load() {
		return nil
	}
	return c.endedErr()
}

// endedErr returns why c has ended. The flag is set a moment before.
//
//go:noinline
func (c *bodyContext) endedErr() error {
	<-c.Done()
	return c.Context.Err()
}

// signalled is the cause of a bodyContext that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.Signal.String() + " signal received" }

// errTermEnds is the cause of a bodyContext that has ended with its term.
var errTermEnds = errors.New("the job has lost PEs, and goes on in its next term")

// newBodyContext returns a context that SIGINT and SIGTERM end, but for a first SIGTERM that stopLater is for. A signal
// after that which ends the context has its default action. A signal within echo of another one belongs to the same
// request.
func newBodyContext(echo time.Duration) *bodyContext {
	inner, cancel := context.WithCancelCause(context.Background())
	ctx := &bodyContext{Context: inner, terms: make(chan (<-chan struct{}), 1), left: make(chan struct{})}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		why := ctx.awaitEnd(signals, echo)
		ctx.ended.Store(true)
		cancel(why)
		if _, ok := why.(signalled); ok {
			time.Sleep(echo)
		}
		signal.Stop(signals)
	}()
	return ctx
}

// awaitEnd returns why the context ends.
func (c *bodyContext) awaitEnd(signals <-chan os.Signal, echo time.Duration) error {
	var asked time.Time
	var termEnds <-chan struct{}
	for {
		select {
		case termEnds = <-c.terms:
		case <-termEnds:
			return errTermEnds
		case <-c.left:
			return errTermEnds
		case sig := <-signals:
			later := c.stopLater.Load()
			switch {
			case sig != syscall.SIGTERM || later == nil || !(*later)():
				return signalled{sig}
			case asked.IsZero():
				asked = time.Now()
				c.stopAsked.Store(true)
			case time.Since(asked) >= echo:
				return signalled{sig}
			}
		}
	}
}

// hasEnded reports whether ctx has ended. A nil ctx counts as ended.
func hasEnded(ctx context.Context) bool {
	if body, ok := ctx.(*bodyContext); ok {
		return body.ended.Load()
	}
	return otherEnded(ctx)
}

// otherEnded reports whether ctx, which is no bodyContext, is nil or has ended.
//
//go:noinline
func otherEnded(ctx context.Context) bool { return ctx == nil || ctx.Err() != nil }
