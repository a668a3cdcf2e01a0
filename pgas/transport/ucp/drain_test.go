//go:build cgo

package ucp

import (
	"context"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestDrain: a PE that leaves waits until the channels of others to it have closed, and closes those that it has
// itself.
func TestDrain(t *testing.T) {
	w := NewWorld(t, 2, Settings{})
	c, err := w.Transports[1].Channel(true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	c.Put(0, dataOff, make([]byte, 8))
	if err := c.Quiet(ctx, 0); err != nil {
		t.Fatal(err)
	}
	short, end := context.WithTimeout(ctx, 100*time.Millisecond)
	defer end()
	w.Transports[0].Drain(short)
	if short.Err() == nil {
		t.Error("Drain of PE 0 returned while PE 1 had a channel to it")
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		w.Transports[0].Drain(ctx)
	}()
	w.Transports[1].Drain(ctx) // no channel leads to PE 1: it closes its own, and waits for none
	<-drained
	if ctx.Err() != nil {
		t.Error("Drain of PE 0 did not return after the channel had closed")
	}

	if c, err = w.Transports[1].Channel(true); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Put(0, dataOff, make([]byte, 8))
	if err := c.Quiet(ctx, 0); err != nil {
		t.Fatal(err)
	}
	w.Jobs[0].Segment.Fail(1, 9)
	w.Transports[0].Drain(ctx)
	if ctx.Err() != nil {
		t.Error("Drain of PE 0 did not return although PE 1 is lost")
	}
}
