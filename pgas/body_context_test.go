package pgas

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestBodyContext: a signal ends the context of a body and those derived from it, and the cause names the signal. The
// flag that calls read agrees with Err as soon as Err has returned the end.
func TestBodyContext(t *testing.T) {
	ctx := newBodyContext(time.Hour)
	derived, cancel := context.WithCancel(ctx)
	defer cancel()
	var none context.Context
	if hasEnded(ctx) || hasEnded(derived) || !hasEnded(none) {
		t.Fatal("before the signal: a context has ended, or a nil one has not")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-derived.Done()
	if !hasEnded(ctx) || !hasEnded(derived) || ctx.Err() != context.Canceled {
		t.Errorf("after the signal: %v, %v, %v", hasEnded(ctx), hasEnded(derived), ctx.Err())
	}
	for _, c := range []context.Context{ctx, derived} {
		if err := context.Cause(c); err == nil || err.Error() != "terminated signal received" {
			t.Errorf("the cause is %v", err)
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil { // the same request, from another sender
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond) // a signal that kills does so at once
}

// TestStopLater: a first SIGTERM is noted and ends nothing where the program saves its state, and neither does its
// echo. SIGINT ends the context, and so does a SIGTERM of a launcher that ends the job.
func TestStopLater(t *testing.T) {
	for _, test := range []struct {
		later   bool
		signals []os.Signal
		want    os.Signal // which ends the context
		asked   bool
	}{
		{true, []os.Signal{syscall.SIGTERM, syscall.SIGTERM, os.Interrupt}, os.Interrupt, true},
		{true, []os.Signal{os.Interrupt}, os.Interrupt, false},
		{false, []os.Signal{syscall.SIGTERM}, syscall.SIGTERM, false},
	} {
		ctx := &bodyContext{Context: context.Background()}
		later := func() bool { return test.later }
		ctx.stopLater.Store(&later)
		signals := make(chan os.Signal, len(test.signals))
		for _, sig := range test.signals {
			signals <- sig
		}
		if got := ctx.awaitEnd(signals, time.Hour); got != (signalled{test.want}) || ctx.stopAsked.Load() != test.asked || len(signals) > 0 {
			t.Errorf("%v: %v ends it, asked %t", test.signals, got, ctx.stopAsked.Load())
		}
	}
	ctx := &bodyContext{Context: context.Background()}
	later := func() bool { return true }
	ctx.stopLater.Store(&later)
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGTERM
	signals <- syscall.SIGTERM
	if got := ctx.awaitEnd(signals, 0); got != (signalled{syscall.SIGTERM}) || len(signals) > 0 {
		t.Errorf("the second request: %v", got)
	}
}
