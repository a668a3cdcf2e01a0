package containers

// Gather: each member asks for elements anywhere, and all members serve each other meanwhile.
//
// A member sends the places that it wants of another member in batches, and gets the values in the same order, so that
// an answer needs not say what it answers. A member that is asked more than the ring of answers has room for leaves the
// questions in theirs: so the memory is bounded, and since answers are always taken, nobody waits for ever.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
)

// gather is one member's part in the gathers of an array.
type gather[T any] struct {
	part    []T // this member's
	flow    *carry.Flow
	asked   *carry.Rings[uint32]
	answers *carry.Rings[T]
	census  *carry.Census
	open    []questions // the questions that are open, for each member
}

// questions is where the answers of one member go: the indexes of dst in the order of the questions.
type questions struct {
	places []int
	next   int // the first that is not answered
}

// planGather reserves what gathers need.
func planGather[T any](mem *carry.Memory, s settings) *gather[T] {
	n := carry.RingSignals(mem.Members.N)
	g := &gather[T]{open: make([]questions, mem.Members.N), flow: carry.NewFlow(mem, 2*n+carry.CensusSignals)}
	g.census = carry.NewCensus(mem, g.flow, 2*n, true)
	g.asked = carry.NewRings[uint32](mem, g.flow, 0, s.ring, 0)
	g.answers = carry.NewRings[T](mem, g.flow, n, s.ring, 0)
	return g
}

// bind has the gathers read from part.
func (g *gather[T]) bind(mem *carry.Memory, part []T) {
	g.part = part
	g.flow.Bind(mem)
	g.asked.Bind(mem)
	g.answers.Bind(mem)
	g.census.Bind(mem)
}

// Gather sets dst[k] to element idx[k], for all k. Elements that members of this host have are loaded. What another
// host has is asked for in batches: 4 bytes for a question and an element for an answer.
//
// It is collective; members may ask for different numbers of elements, or none. It returns when the questions of all
// members are answered. An element is read at some time during the call: put a barrier between it and what changes the
// elements. It panics with *pgas.UsageError if dst and idx differ in length or an index is out of range.
func (a *Array[T]) Gather(ctx context.Context, dst []T, idx []int) error {
	const op = "Array.Gather"
	a.enter(ctx, op)
	defer a.turn.leave()
	if len(dst) != len(idx) {
		carry.Misuse(op, "%s for %s: give one for each", plural.Count(len(idx), "index"), plural.Count(len(dst), "element"))
	}
	a.mustHaveAll(op, idx)
	return a.joint(ctx, op, func(ctx context.Context) error { return a.gather(ctx, dst, idx) })
}

// gather is Gather inside a collective call.
func (a *Array[T]) gather(ctx context.Context, dst []T, idx []int) error {
	g := a.moves.gather
	for k, i := range idx {
		pe, at := a.layout.locate(i)
		if part := a.mapped[pe]; part != nil {
			dst[k] = part[at]
			continue
		}
		g.open[pe].places = append(g.open[pe].places, k)
		if g.asked.Stage(pe, uint32(at)) {
			if err := g.ask(ctx, dst, pe); err != nil {
				return err
			}
		}
	}
	return g.finish(ctx, dst)
}

// ask puts a full batch of questions to pe, and serves until there is room for it.
func (g *gather[T]) ask(ctx context.Context, dst []T, pe int) error {
	for {
		g.flow.Look()
		g.asked.Push(pe)
		some := g.serve(dst)
		if !g.asked.Full(pe) {
			return nil
		}
		if err := g.pause(ctx, some); err != nil {
			return err
		}
	}
}

// finish asks the last questions, and serves until all members have their answers.
func (g *gather[T]) finish(ctx context.Context, dst []T) error {
	for {
		g.flow.Look()
		put, all := g.asked.PushAll()
		some := g.serve(dst)
		if all && !some && g.answered() && g.census.Step(carry.Tally{}) {
			g.asked.EndEpoch()
			g.answers.EndEpoch()
			return nil
		}
		if err := g.pause(ctx, put || some); err != nil {
			return err
		}
	}
}

// pause waits for something to do, unless this member has just done something.
func (g *gather[T]) pause(ctx context.Context, busy bool) error {
	if busy {
		return nil
	}
	g.asked.TellAll()
	g.answers.TellAll()
	return g.flow.Wait(ctx)
}

// serve answers questions and takes answers, and reports whether there were any.
func (g *gather[T]) serve(dst []T) (some bool) {
	for pe := range g.open {
		some = g.answer(pe) || some
		some = g.take(dst, pe) || some
	}
	return some
}

// answer answers as many questions of pe as there is room for answers.
func (g *gather[T]) answer(pe int) (some bool) {
	for {
		places := g.asked.Arrived(pe)
		places = places[:min(len(places), g.answers.Room(pe), g.answers.Batch())]
		if len(places) == 0 {
			return some
		}
		some = true
		for _, at := range places {
			g.answers.Stage(pe, g.part[at])
		}
		g.asked.Take(pe, len(places))
		g.answers.Push(pe)
	}
}

// take puts answers of pe where they belong.
func (g *gather[T]) take(dst []T, pe int) (some bool) {
	q := &g.open[pe]
	for {
		values := g.answers.Arrived(pe)
		if len(values) == 0 {
			return some
		}
		some = true
		for k, v := range values {
			dst[q.places[q.next+k]] = v
		}
		q.next += len(values)
		g.answers.Take(pe, len(values))
		if q.next == len(q.places) {
			q.places, q.next = q.places[:0], 0
		}
	}
}

// answered reports whether this member has all its answers.
func (g *gather[T]) answered() bool {
	for pe := range g.open {
		if len(g.open[pe].places) > 0 {
			return false
		}
	}
	return true
}
