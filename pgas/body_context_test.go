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
