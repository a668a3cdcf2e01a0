package dsm

// Run: goroutines of all PEs as one team, numbered through.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// A Member is one goroutine of a Run.
type Member struct {
	t     *team
	local int
}

// team is what the goroutines of a PE share.
type team struct {
	r       *Region
	members int // the members of this PE
	first   int // the number of this PE's first member
	total   int
	local   *meeting
	parts   [][]float64 // what Sum adds for each local member
	sums    []float64
	work    pgas.Sym[float64]
}

// maxSum is the greatest number of values that one Sum adds.
const maxSum = 64

// Run runs body in n goroutines of this PE and waits for all of them; 0 stands for GOMAXPROCS, less one from three on,
// which is left for the service thread. It is collective; PEs may give different n. The simulator runs one
// goroutine a PE, the caller's.
//
// The first error of a body ends the contexts of this PE's others, and is returned. A panic with *pgas.PeerError, or a
// page fault whose home is lost, becomes that error.
func (r *Region) Run(ctx context.Context, n int, body func(ctx context.Context, m Member) error) error {
	r.mustBeOpen("Region.Run")
	if n < 0 {
		misuse("Region.Run", "%s: give a positive number, or 0 for as many as suit the machine", plural.Count(n, "goroutine"))
	}
	if n == 0 {
		n = suitable()
	}
	if r.fences.Simulated {
		n = 1
	}
	t, err := r.newTeam(ctx, n)
	if err != nil {
		return err
	}
	err = start(ctx, n, func(ctx context.Context, i int) (err error) {
		defer r.recoverFault(&err)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		return body(ctx, Member{t, i})
	})
	if err != nil {
		return err
	}
	if err := r.fences.Context.Quiet(ctx); err != nil {
		return err
	}
	return t.work.Free(ctx)
}

func suitable() int {
	n := runtime.GOMAXPROCS(0)
	if n >= 3 {
		n--
	}
	return n
}

// newTeam numbers the goroutines of all PEs.
func (r *Region) newTeam(ctx context.Context, n int) (*team, error) {
	counts, err := pgas.Alloc[uint64](ctx, r.w, 1+r.n)
	if err != nil {
		return nil, err
	}
	counts.Local()[0] = uint64(n)
	if err := pgas.FCollect(ctx, r.w.Team(), counts.Range(1, 1+r.n), counts.Range(0, 1)); err != nil {
		return nil, err
	}
	t := &team{r: r, members: n, local: newMeeting(n), parts: make([][]float64, n)}
	for pe, c := range counts.Local()[1:] {
		if pe < r.me {
			t.first += int(c)
		}
		t.total += int(c)
	}
	if err := counts.Free(ctx); err != nil {
		return nil, err
	}
	t.work, err = pgas.Alloc[float64](ctx, r.w, maxSum*(1+r.n))
	return t, err
}

// recoverFault, deferred, turns a panic because a PE is lost into an error. Other panics go on.
func (r *Region) recoverFault(err *error) {
	p := recover()
	if p == nil {
		return
	}
	e, _ := p.(error)
	if peer, ok := errors.AsType[*pgas.PeerError](e); ok {
		*err = peer
		return
	}
	if late := r.observed.windows.explain(e); late != nil {
		panic(late)
	}
	if lost := r.lostFault(e); lost != nil {
		*err = lost
		return
	}
	panic(p)
}

// lostFault returns the error of a page fault whose home is lost, or nil if e is another fault.
func (r *Region) lostFault(e error) error {
	if r.memory.paged == nil || r.closed {
		return nil
	}
	pe, at := r.memory.paged.lost(e)
	if pe < 0 {
		return nil
	}
	b := int(at >> r.memory.shift)
	return &pgas.PeerError{PE: pe, Host: r.w.HostOf(pe), Err: fmt.Errorf("it was lost while this PE fetched block %d of a coherent region, %s", b, r.memory.elementsOf(b))}
}

// ID returns the number of this goroutine among those of all PEs.
func (m Member) ID() int { return m.t.first + m.local }

// N returns the number of goroutines of all PEs.
func (m Member) N() int { return m.t.total }

// Region returns the region of the Run.
func (m Member) Region() *Region { return m.t.r }

// Share returns this goroutine's part of n things: lo to hi-1. The parts of all differ by one at most.
func (m Member) Share(n int) (lo, hi int) {
	return m.ID() * n / m.N(), (m.ID() + 1) * n / m.N()
}

// Barrier blocks until all goroutines of all PEs have called it. What they have written before is visible to all after
// it. Errors: those of Region.Barrier, and the cause of ctx's end.
func (m Member) Barrier(ctx context.Context) error {
	return m.t.local.meet(ctx, func() error { return m.t.r.Barrier(ctx) })
}

// Sum returns the sums over all goroutines of each x, the same on all. All give the same number of values, 64 at most.
// It adds in the order of IDs on each PE, and then in the order of PEs, so the result does not change from run to run.
// It is no fence. Errors: those of a collective, and the cause of ctx's end.
func (m Member) Sum(ctx context.Context, x ...float64) ([]float64, error) {
	if len(x) > maxSum {
		misuse("Member.Sum", "%s: it adds up to %d at once", plural.Count(len(x), "value"), maxSum)
	}
	m.t.parts[m.local] = x
	if err := m.t.local.meet(ctx, func() error { return m.t.sum(ctx, len(x)) }); err != nil {
		return nil, err
	}
	return append([]float64(nil), m.t.sums[:len(x)]...), nil
}

// sum adds what the members of this PE and then all PEs have given.
func (t *team) sum(ctx context.Context, n int) error {
	own := t.work.Local()[:n]
	clear(own)
	for _, part := range t.parts {
		if len(part) != n {
			misuse("Member.Sum", "goroutines of this PE give %d and %s", n, plural.Count(len(part), "value"))
		}
		for i, v := range part {
			own[i] += v
		}
	}
	if n == 0 {
		return nil
	}
	all := t.work.Range(maxSum, maxSum+n*t.r.n)
	if err := pgas.FCollect(ctx, t.r.w.Team(), all, t.work.Range(0, n)); err != nil {
		return err
	}
	sums := make([]float64, n)
	for i, v := range all.Local() {
		sums[i%n] += v
	}
	t.sums = sums
	return nil
}
