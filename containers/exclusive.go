package containers

// What one goroutine at a time may use. A handle keeps what its calls know of one another: numbers in reserve, tickets,
// batches, scratch. Two goroutines in it at once would lose or repeat some of that, so the second one panics instead,
// and says where both are.
//
// A call enters by a compare-and-swap and leaves by another one. A goroutine that stays notes where it is: one that
// waits, and one whose call takes long in any case. Of a goroutine that has noted nothing the second one leaves word
// that it wants to know, and gets the answer when the first one leaves or begins to wait.
//
// Calls that do not overlap are in the order of these swaps, so goroutines that take turns by luck do no harm either.

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// exclusive is a part of a handle in which one goroutine at a time may be. The zero value has none.
type exclusive struct {
	state atomic.Uint32
	mu    sync.Mutex     // never held while its goroutine waits for another PE
	place callsite.Stack // the place of the goroutine inside, while state is exclusiveNoted
	told  atomic.Pointer[exclusivePlace]
}

// exclusivePlace is the call that a goroutine was in, and its site.
type exclusivePlace struct{ call, site string }

// The states.
const (
	exclusiveFree   uint32 = iota
	exclusiveTaken         // a goroutine is inside
	exclusiveWanted        // a goroutine is inside, and another one wants to know where
	exclusiveNoted         // a goroutine is inside, and place says where
)

// enter begins a call, which leave ends. It panics with *pgas.UsageError if another goroutine is inside.
func (x *exclusive) enter(w *pgas.World) {
	if !x.state.CompareAndSwap(exclusiveFree, exclusiveTaken) {
		x.await(w)
	}
}

// enterLong begins a call that takes long in any case, and notes where the call is. It panics as enter does.
func (x *exclusive) enterLong(w *pgas.World) {
	x.enter(w)
	x.note()
}

// busy reports whether a goroutine is inside.
func (x *exclusive) busy() bool { return x.state.Load() != exclusiveFree }

// leave ends a call. It is deferred, so that it also runs if the call panics.
func (x *exclusive) leave() {
	if !x.state.CompareAndSwap(exclusiveTaken, exclusiveFree) {
		x.leaveSlowly()
	}
}

// leaveSlowly ends a call, and says where it was if another goroutine wants to know.
//
//go:noinline
func (x *exclusive) leaveSlowly() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state.Load() == exclusiveWanted {
		x.place.Take()
		x.tell()
	}
	x.state.Store(exclusiveFree)
}

// note notes where the goroutine inside is, before it waits.
func (x *exclusive) note() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.place.Take()
	if x.state.Swap(exclusiveNoted) == exclusiveWanted {
		x.tell()
	}
}

// tell tells the goroutines that want to know it what place says.
func (x *exclusive) tell() {
	call, site := x.place.Call()
	x.told.Store(&exclusivePlace{call, site})
}

// await is for a goroutine that has found another one inside. It returns when it is inside, because the other one has
// left before anything was shared; otherwise it panics.
//
//go:noinline
func (x *exclusive) await(w *pgas.World) {
	before := x.told.Load()
	for p := (pace{}); ; {
		if x.state.CompareAndSwap(exclusiveFree, exclusiveTaken) {
			return
		}
		if x.state.CompareAndSwap(exclusiveTaken, exclusiveWanted) || x.state.Load() == exclusiveWanted {
			x.refuse(x.answer(w, &p, before))
		}
		if place := x.noted(); place != nil {
			x.refuse(place)
		}
	}
}

// exclusivePolls is how often a goroutine looks for an answer: for about a second.
const exclusivePolls = 1000

// answer returns where the other goroutine is, or nil if it does not say so for long.
func (x *exclusive) answer(w *pgas.World, p *pace, before *exclusivePlace) *exclusivePlace {
	for range exclusivePolls {
		if place := x.told.Load(); place != before {
			return place
		}
		if p.pause(context.Background(), w) != nil {
			break
		}
	}
	return nil
}

// noted returns where the goroutine inside is, if it has noted that, and nil otherwise.
func (x *exclusive) noted() *exclusivePlace {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state.Load() != exclusiveNoted {
		return nil
	}
	call, site := x.place.Call()
	return &exclusivePlace{call, site}
}

// refuse panics with *pgas.UsageError: another goroutine is at a place, or anywhere in a call if that is nil.
func (x *exclusive) refuse(place *exclusivePlace) {
	const rule = "what it calls must not use the same container, and other goroutines of the PE take turns, by a sync.Mutex or a channel"
	if place == nil || place.site == "" {
		carry.Misuse(callsite.Call(), "another call is under way: %s", rule)
	}
	carry.Misuse(callsite.Call(), "%s, called at %s, is under way: %s", place.call, place.site, rule)
}
