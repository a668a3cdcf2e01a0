package pgas

// Groups of goroutines of one PE. The first that fails, by an error or a panic, ends the context of the others, and its
// error comes out of Wait. Nothing of it moves between PEs. In the simulator the goroutines are threads of control of
// the simulated PE, so a program that starts its goroutines in a group runs there.

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is goroutines of this PE that work on one thing. World.Go makes one. Its methods may be called by any
// goroutine; they panic with *UsageError if the Group is nil or zero.
type Group struct {
	w      *World
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	running  int
	waited   bool
	failed   error         // the first error
	panicked any           // the first panic that is no error of this package
	idle     chan struct{} // closed when no goroutine runs
}

// Go runs each of fs as a goroutine of this PE, and returns the Group of them at once; Group.Go adds others, and
// Group.Wait waits for all and returns the first error. Each function gets a context that ends when ctx does, when one
// of the group fails, and when Wait returns: with what has ended it as its cause. It is not collective, and moves and
// orders nothing.
//
// The functions may run before Go has returned. One that adds to its own Group needs a Group that is there already:
// make it with no function, and then call Group.Go.
//
// A *PeerError or *UsageError that a function panics with, as a Get from a lost PE does, is its error. Another panic is
// raised again by Wait, with the stack where it began.
//
// The goroutines of a PE share its contexts and its references. They take turns in the collectives of a team, so
// goroutines that call collectives at the same time use teams of their own. Go panics with *UsageError if ctx or a
// function is nil.
func (w *World) Go(ctx context.Context, fs ...func(ctx context.Context) error) *Group {
	w.mustBeOpen("World.Go")
	mustHaveContext("World.Go", ctx)
	g := &Group{w: w}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	for _, f := range fs {
		g.Go(f)
	}
	return g
}

// Go runs f as one more goroutine of the group, with the context of the group. It may be called by a function of the
// group. It panics with *UsageError if f is nil, or if Wait has returned.
func (g *Group) Go(f func(ctx context.Context) error) {
	g.made("Group.Go")
	if f == nil {
		misuse("Group.Go", "the function is nil")
	}
	g.mu.Lock()
	if g.waited {
		g.mu.Unlock()
		misuse("Group.Go", "Wait has returned, which ends the group: begin another one with World.Go")
	}
	if g.running++; g.running == 1 {
		g.idle = make(chan struct{})
	}
	g.mu.Unlock()
	g.w.n.Spawn(func() {
		defer g.leave()
		g.run(f)
	})
}

// Wait blocks until all functions of the group have returned, however long they go on after the context of the group
// has ended, and returns the error of the one that failed first, or nil. It panics with what a function has panicked
// with, if that is no *PeerError and no *UsageError. It ends the group and its context. A second Wait returns the same
// error.
func (g *Group) Wait() error {
	g.made("Group.Wait")
	g.mu.Lock()
	for g.running > 0 {
		idle := g.idle
		g.mu.Unlock()
		g.w.n.AwaitClosed(context.Background(), idle)
		g.mu.Lock()
	}
	g.waited = true
	g.mu.Unlock()
	g.cancel(nil)
	if g.panicked != nil {
		panic(g.panicked)
	}
	return g.failed
}

// run calls f and notes how it fails.
func (g *Group) run(f func(ctx context.Context) error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			panicked, err := g.panicOf(p)
			g.fail(err, panicked)
		} else if !returned {
			g.fail(errors.New("a goroutine of a group has ended itself (runtime.Goexit does, and FailNow of a test): it is to return an error instead"), nil)
		}
	}()
	if g.w.check != nil && g.w.check.guard != nil {
		debug.SetPanicOnFault(true) // for this goroutine: Recovered explains the panic
	}
	err := f(g.ctx)
	returned = true
	if err != nil {
		g.fail(err, nil)
	}
}

// panicOf returns what Wait is to panic with after a recovered panic, or nil, and the error that it stands for.
func (g *Group) panicOf(p any) (panicked any, err error) {
	if err := g.w.Recovered(p); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%v\n\nin a goroutine of a pgas.Group:\n\n%s", p, debug.Stack())
	return text, errors.New("another goroutine of the group has panicked")
}

// fail ends the context of the group, if nothing has failed before.
func (g *Group) fail(err error, panicked any) {
	g.mu.Lock()
	if g.failed == nil {
		g.failed, g.panicked = err, panicked
	}
	err = g.failed
	g.mu.Unlock()
	g.cancel(err)
}

// leave ends a goroutine.
func (g *Group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.running == 0 {
		close(g.idle)
	}
}

// made panics with *UsageError if g is nil or zero.
func (g *Group) made(op string) {
	if g == nil || g.w == nil {
		misuse(op, "a nil or zero Group (no call has made it): use what World.Go has returned")
	}
}
