package network

// Lateness: what an adversary holds back besides the random times of steps. It holds an operation without a result
// until something demands it:
//
//	a quiet of its channel, or an operation that must come after it
//	a wait of its target for bytes that it writes, or a PE that looks at them again and again
//	holdTime has passed: the newest one then arrives, and the others one by one
//
// It reads the source of a put that does not wait when the put takes effect, or when the initiator waits for the
// source. It keeps the result of a get or of an atomic that does not wait until the quiet. A task that a PE starts
// begins when the PE waits.
//
// With firstSeed all of this is as late as it may be, and what arrives together arrives newest first. With earlySeed
// sources are read, gets are read and filled, and tasks begin at the call. With any other seed each operation draws.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// The seeds with which nothing is drawn about lateness.
const (
	firstSeed = 0
	earlySeed = 1
)

const (
	longestStep = 1000 << 15 // the longest random time, in picoseconds
	// holdTime is how long operations are held that nothing demands. Nearly every step that follows from another one
	// has happened by then.
	holdTime = 32 * longestStep
	// holdRounds is how many times holdTime it takes at most until an operation arrives that nothing demands.
	holdRounds = 32
	// arrivalDelay is the time with firstSeed from the beginning of a quiet until the first operation arrives, and
	// arrivalsApart is how many come one by one.
	arrivalDelay  = 8 * longestStep
	arrivalsApart = 16
	// pollsSeen is how many equal looks of a PE at a word make the adversary take it for one that waits for the word.
	pollsSeen = 3
)

// lateness returns what the adversary knows about o.
func (o *Op) lateness() *lateness {
	if o.late == nil {
		o.late = &lateness{}
	}
	return o.late
}

// draw returns late with firstSeed, early with earlySeed, and one of both at random with any other seed.
func (a *adversary) draw() (late bool) {
	switch a.net.config.Seed {
	case firstSeed:
		return true
	case earlySeed:
		return false
	}
	return a.net.random.Next()%2 == 0
}

// drop removes o from the held operations.
func (a *adversary) drop(o *Op) {
	i := slices.Index(a.held, o)
	a.held = slices.Delete(a.held, i, i+1)
	o.late.held = false
}

// arrive makes o, which is held, arrive at a time.
func (a *adversary) arrive(o *Op, at int64) {
	a.drop(o)
	a.net.Engine.At(at, &o.Event)
}

// arriveSoon makes the held operations that wanted selects arrive after random times.
func (a *adversary) arriveSoon(wanted func(*Op) bool) {
	for _, o := range slices.Clone(a.held) {
		if wanted(o) {
			a.arrive(o, a.net.Engine.Now()+a.net.randomTime())
		}
	}
}

// demandBefore makes what o must come after arrive.
func (a *adversary) demandBefore(o *Op) {
	if a == nil {
		return
	}
	a.arriveSoon(func(other *Op) bool {
		return other.flow == o.flow && other.id < o.id &&
			(o.ordered() && other.ordered() && other.epoch < o.epoch || other.precedes(o))
	})
}

// demand makes the operations of c to one PE arrive and fill what they are to fill, or those to all PEs if f is nil: t
// waits for them.
func (a *adversary) demand(c *channel, f *flow, t *engine.Task) {
	if a == nil {
		return
	}
	mine := func(o *Op) bool { return o.flow.ch == c && (f == nil || o.flow == f) }
	at := a.arrivals(t)
	var gets []*Op
	for _, o := range slices.Backward(slices.Clone(a.held)) {
		switch {
		case !mine(o):
		case o.kind == opGet:
			gets = append(gets, o)
		default:
			a.arrive(o, at())
		}
	}
	for _, o := range gets {
		a.arrive(o, at())
	}
	for _, o := range slices.Backward(a.kept) {
		if mine(o) {
			a.net.Engine.At(at(), &o.Event)
		}
	}
	a.kept = slices.DeleteFunc(a.kept, mine)
}

// arrivals returns the times at which operations arrive for which t begins to wait: random ones. With firstSeed they
// are late, and so far from each other that PEs see every state in between.
func (a *adversary) arrivals(t *engine.Task) func() int64 {
	now := a.net.Engine.Now() + t.Elapsed
	if a.net.config.Seed != firstSeed {
		return func() int64 { return now + a.net.randomTime() }
	}
	at, left := now+arrivalDelay, arrivalsApart
	return func() int64 {
		if left--; left >= 0 {
			at += longestStep * 2
		} else {
			at++
		}
		return at
	}
}

// keeps keeps the result of o, which has arrived, if it is to be kept and no quiet waits for it. It reports whether.
func (a *adversary) keeps(o *Op) bool {
	if o.late == nil || !o.late.keep || o.dst == nil || o.flow.quieted() {
		return false
	}
	a.kept = append(a.kept, o)
	return true
}

// quieted reports whether a quiet waits for operations of f.
func (f *flow) quieted() bool {
	return slices.ContainsFunc(f.ch.quietWaits, func(q quietWait) bool { return q.f == nil || q.f == f })
}

// replyTime returns how long the answer to o takes. With firstSeed it is there at once, so that the order of gets is
// that of their answers.
func (a *adversary) replyTime(o *Op) int64 {
	if a.net.config.Seed == firstSeed && o.dst != nil && !a.net.exploring() {
		return 0
	}
	return a.net.randomTime()
}

// awaited reports whether a task of the target of o waits for bytes that o writes.
func (a *adversary) awaited(o *Op) bool {
	return slices.ContainsFunc(o.to.Waiting(), func(t *engine.Task) bool {
		lo, hi := t.Words()
		return o.changes(lo, hi)
	})
}

// awaits makes held operations arrive that write bytes from lo to hi of p: a PE waits for them.
func (a *adversary) awaits(p *PE, lo, hi uint64) {
	a.arriveSoon(func(o *Op) bool { return o.to == p && o.changes(lo, hi) })
}

// changes reports whether o writes bytes from lo to hi of its target, its note included.
func (o *Op) changes(lo, hi uint64) bool {
	if o.notifies && lo < shm.NoteQueueEnd && boot.NoteQueueOff < hi {
		return true
	}
	return slices.ContainsFunc(o.writeList(), func(b [2]uint64) bool { return b[0] < hi && lo < b[1] })
}

func (o *Op) writeList() []([2]uint64) { w := o.writes(); return w[:] }

// looks records an operation that its task waits for. A PE that looks at the same bytes again and again waits for them.
func (a *adversary) looks(o *Op) {
	last := &a.last[o.origin]
	if last.at != o.to || last.off != o.off || last.kind != o.kind {
		*last = look{o.to, o.off, o.kind, 0}
	}
	if last.times++; last.times >= pollsSeen {
		a.awaits(o.to, o.off, o.off+uint64(max(int(o.bytes), o.size)))
	}
}

// tick schedules a call of elapse, if there is anything to hold.
func (a *adversary) tick() {
	if e := &a.net.Engine; !a.ticking && len(a.held) > 0 {
		a.ticking = true
		e.At(e.Now()+holdTime, &engine.NewCall(&a.net.pes[0].PE, HoldTime, a.elapse).Event)
	}
}

// elapse makes an operation arrive that nothing has demanded, or some of very many.
func (a *adversary) elapse() {
	a.ticking = false
	now := a.net.Engine.Now()
	for range (len(a.held) + holdRounds - 1) / holdRounds {
		i := len(a.held) - 1
		switch {
		case now-a.held[0].late.since > holdRounds*holdTime:
			i = 0
		case a.net.config.Seed != firstSeed:
			i = int(a.net.random.Next() % uint64(len(a.held)))
		}
		a.arrive(a.held[i], now)
	}
	a.tick()
}

// Go implements transport.Spawner. With an adversary f may begin within the call, in which time then passes: with
// earlySeed so much that what f begins with has effects, if that depends on no PE which has not begun it.
func (p *PE) Go(f func()) {
	p.PE.Go(f)
	a := p.net.late()
	switch {
	case a == nil || a.draw():
	case p.net.config.Seed == earlySeed:
		p.net.Engine.Advance(p.net.Engine.Running(), holdTime)
	default:
		p.net.Engine.Advance(p.net.Engine.Running(), p.net.randomTime())
	}
}

// Await implements transport.Scheduler.
func (p *PE) Await(ctx context.Context, lo, hi uint64, ready func() bool) error {
	if a := p.net.late(); a != nil && !ready() {
		a.awaits(p, lo, hi)
	}
	return p.PE.Await(ctx, lo, hi, ready)
}
