package main

// A scenario is what two PEs do with the same memory, one after the other. Each part is a function literal of one line,
// so that the line of the literal is the line of the access, which a report must name.
//
// Where nothing orders the two, the program does, by a turn: the first PE passes the turn after its access, and the
// other awaits the turn before its own. The race detector does not see a turn. So it sees the same order of accesses in
// each run, and a report that comes once comes always.

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// A scenario is a row of a table of docs/use/races.md.
type scenario struct {
	first, then string // the row's first two cells
	pes         int    // 0: two. The last PE does what is second, and all others what is first
	alone       bool   // PE 0 makes both accesses, and the others none
	run         func(p *pe) (first, then func())
}

func (s scenario) name() string { return s.first + " | " + s.then }

func (s scenario) npes() int { return max(s.pes, 2) }

// elements of the memory that the PEs access: more than 1 MiB, from which on copies are made in another way.
const elements = 160 << 10

// A pe is one PE of a scenario, and what all PEs share.
type pe struct {
	*pgas.World
	ctx     context.Context
	order   *turn
	data    pgas.Slice[int64]
	word    pgas.Ref[int64]    // the first element of data
	cell    pgas.Atomic[int64] // the same word
	flag    pgas.Atomic[int64] // a word of its own
	flags   pgas.Slice[int64]  // the word of flag, and others
	sig     pgas.SignalRef     // a signal of its own
	checked bool               // accesses are checked
	atEnd   func()             // what is to be done after the last access, or nil
	value   int64              // what is put where the address of a variable is asked for
	mine    []int64            // of the PE alone, as long as data
}

func newPE(ctx context.Context, w *pgas.World, order *turn, checked bool) (*pe, error) {
	data, err := pgas.Alloc[int64](ctx, w, elements)
	if err != nil {
		return nil, err
	}
	flags, err := pgas.Alloc[int64](ctx, w, 8)
	if err != nil {
		return nil, err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return nil, err
	}
	return &pe{
		World: w, ctx: ctx, order: order, checked: checked,
		data: data.All(), word: data.At(0), cell: pgas.AtomicOf(data, 0),
		flag: pgas.AtomicOf(flags, 0), flags: flags.All(), sig: pgas.SignalOf(signals, 0),
		value: 1, mine: make([]int64, elements),
	}, nil
}

// on runs f if this is PE n.
func (p *pe) on(n int, f func()) {
	if p.PE() == n {
		f()
	}
}

// pass tells the last PE that this one has made its access.
func (p *pe) pass() { p.order.pass() }

// await waits until all other PEs have passed.
func (p *pe) await() { p.order.await(p.World, int32(p.NPEs()-1)) }

// awaitAsleep is await for others that wait for this PE when they have passed: it lets them fall asleep. What is
// reported does not depend on whether they have.
func (p *pe) awaitAsleep() {
	p.await()
	time.Sleep(20 * time.Millisecond)
}

// newSignal returns a signal of its own.
func (p *pe) newSignal() pgas.SignalRef {
	return pgas.SignalOf(got(pgas.Alloc[pgas.Signal](p.ctx, p.World, 1)), 0)
}

// awaitFlag waits until the flag of this PE is 1.
func (p *pe) awaitFlag() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)) }

// halves is an element of two words of 4 bytes.
func (p *pe) halves() pgas.Ref[[2]int32] { return got(pgas.Alloc[[2]int32](p.ctx, p.World, 8)).At(4) }

// others selects all flags but one.
func (p *pe) others(but int) []bool {
	skip := make([]bool, p.flags.Len())
	for i := range skip {
		skip[i] = i != but
	}
	return skip
}

func (p *pe) awaitAny(s *pgas.WaitSet[int64]) {
	if _, _, err := s.WaitAny(p.ctx); err != nil {
		panic(err)
	}
}

// A turn orders PEs behind the back of the race detector.
type turn struct {
	passed atomic.Int32
	closed chan struct{} // which the detector does see, as it sees all of Go's synchronization
	pause  func(w *pgas.World)
}

func (t *turn) pass() { unseenByDetector(func() { t.passed.Add(1) }) }

// await waits for n passes on the PE of w, with a pause between its looks.
func (t *turn) await(w *pgas.World, n int32) {
	unseenByDetector(func() {
		for t.passed.Load() < n {
			t.pause(w)
		}
	})
}

// lineOf returns file:line of a function literal.
func lineOf(f func()) string {
	pc := reflect.ValueOf(f).Pointer()
	file, line := runtime.FuncForPC(pc).FileLine(pc)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// must panics with err, unless it is nil: the PE then fails with it.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// got is must for a call that also returns a value.
func got[T any](v T, err error) T {
	must(err)
	return v
}
