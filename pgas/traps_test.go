package pgas_test

// The traps of the specification: what programs get wrong, and what implementations do. A body that
// must see what has NOT happened yet runs on the late network of pgastest, where that does not depend
// on luck; it passes a Go channel between its PEs, which are goroutines there.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/ucx"
)

// TestTrapEmptyAllocations: no form of allocation meets when there is nothing to allocate: here only one
// PE makes the calls.
func TestTrapEmptyAllocations(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 1 {
			for name, alloc := range map[string]func() (pgas.Sym[int32], error){
				"Alloc":        func() (pgas.Sym[int32], error) { return pgas.Alloc[int32](ctx, w, 0) },
				"AllocRaw":     func() (pgas.Sym[int32], error) { return pgas.AllocRaw[int32](ctx, w, 0) },
				"AllocAligned": func() (pgas.Sym[int32], error) { return pgas.AllocAligned[int32](ctx, w, 0, 64) },
			} {
				s, err := alloc()
				if err != nil || s.Len() != 0 || s.All().Len() != 0 {
					return fmt.Errorf("%s: %d elements, %w", name, s.Len(), err)
				}
				if err := s.Free(ctx); err != nil { //pgasvet:ok nothing is freed
					return fmt.Errorf("freeing nothing: %w", err)
				}
			}
		}
		return w.Barrier(ctx)
	})
}

// TestTrapAllocationQuietsTheDefaultContextOnly: allocating and freeing complete what was issued on the
// default context, and leave alone what was issued on another. What shows it are non-blocking gets,
// which nothing but a quiet fills.
func TestTrapAllocationQuietsTheDefaultContextOnly(t *testing.T) {
	pgastest.RunLate(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		s.Local()[0], s.Local()[1] = 10, 20
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		var onDefault, onOther int64
		var more pgas.Sym[int64]
		for _, step := range []struct {
			name string
			call func() error
		}{
			{"Alloc", func() (err error) { more, err = pgas.Alloc[int64](ctx, w, 1); return err }},
			{"Free", func() error { return more.Free(ctx) }},
		} {
			onDefault, onOther = 0, 0
			s.At(0).GetNB(other, &onDefault)
			s.At(1).On(c).GetNB(other, &onOther)
			if err := step.call(); err != nil {
				return err
			}
			if onDefault != 10 || onOther != 0 {
				return fmt.Errorf("after %s the get of the default context has %d, want 10, that of another %d, want 0", step.name, onDefault, onOther)
			}
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			if onOther != 20 {
				return fmt.Errorf("after the quiet of its own context a get has %d, want 20", onOther)
			}
		}
		return c.Close()
	})
}

// TestTrapFenceOrdersOverMemoryAndNIC: with the network's atomics a PE of this host is reached by two
// ways, puts by its memory and atomics by UCX. A fence orders both, in either order, to PEs of this
// host and of another.
//
//ci:ucx
func TestTrapFenceOrdersOverMemoryAndNIC(t *testing.T) {
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, so it has no network to execute atomics")
	}
	const nic = "PGAS_AMO=nic"
	pgastest.RunProcesses(t, 2, fenceOrdersBothWays, nic)
	pgastest.RunHosts(t, 4, 2, fenceOrdersBothWays, nic)
	t.Run("cpu", func(t *testing.T) { pgastest.RunProcesses(t, 2, fenceOrdersBothWays) })
}

// fenceOrdersBothWays: PE 0 writes rounds of put, fence, add, fence, put to every other PE, each of which
// looks at the three words backwards: none may be ahead of the one before it.
func fenceOrdersBothWays(ctx context.Context, w *pgas.World) error {
	const rounds = 200
	s, err := pgas.Alloc[int64](ctx, w, 3)
	if err != nil {
		return err
	}
	// All three are words for atomics, so that looking at them while they change is not a race.
	first, second, third := s.At(0), pgas.AtomicOf(s, 1), s.At(2)
	if w.PE() == 0 {
		for i := range int64(rounds) {
			for pe := 1; pe < w.NPEs(); pe++ {
				first.Put(pe, i+1)
				w.Fence()
				second.Add(pe, 1)
				w.Fence()
				third.Put(pe, i+1)
			}
			w.Fence()
		}
		return w.Barrier(ctx)
	}
	me := w.PE()
	for seen := int64(0); seen < rounds; {
		seen = third.Get(me)
		if added := second.Fetch(me); added < seen {
			return fmt.Errorf("put %d overtook the atomic before it, which is at %d", seen, added)
		} else if put := first.Get(me); put < added {
			return fmt.Errorf("atomic %d overtook the put before it, which is at %d", added, put)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Barrier(ctx)
}

// TestTrapPutSignalProvesItsPayloadOnly: whoever sees the signal sees the data that came with it, however
// long it is; not what was sent before, unless a fence was between them.
func TestTrapPutSignalProvesItsPayloadOnly(t *testing.T) {
	onEvery(t, 2, payloadsWithSignals)
	const rounds = 20 // the last one has a fence
	var held atomic.Bool
	var out, issued, looked [rounds]chan struct{}
	for i := range issued {
		out[i], issued[i], looked[i] = make(chan struct{}), make(chan struct{}), make(chan struct{})
	}
	pgastest.RunLate(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 3)
		if err != nil {
			return err
		}
		sig, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		before, payload, ready := pgas.AtomicOf(s, 0), pgas.AtomicOf(s, 1), pgas.SignalOf(sig, 0)
		for round := range rounds {
			n, fenced := int64(round+1), round == rounds-1
			if !fenced && held.Load() {
				continue
			}
			if w.PE() == 0 {
				<-out[round]
				before.Set(1, n)
				if fenced {
					w.Fence()
				}
				s.Range(1, 2).PutSignal(1, []int64{n}, ready, uint64(n))
				close(issued[round])
				<-looked[round]
			} else {
				close(out[round]) // waiting in the library would let arrive what is held for this PE
				<-issued[round]
				_, err := ready.WaitUntil(ctx, pgas.EQ, uint64(n))
				data, other := payload.Fetch(1), before.Fetch(1)
				close(looked[round])
				switch {
				case err != nil:
					return err
				case data != n:
					return fmt.Errorf("round %d: the signal came without its payload: %d", n, data)
				case fenced && other != n:
					return fmt.Errorf("with the signal, what was sent before it and a fence is %d, want %d", other, n)
				case other != n:
					held.Store(true) // since nothing asked for it
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		if w.PE() == 1 && !held.Load() { // a PE that has no CPU for long lets some arrive
			return fmt.Errorf("in %d rounds without a fence, what was sent before was always there", rounds-1)
		}
		return nil
	})
}

// payloadsWithSignals sends payloads of many lengths back and forth, each proven by its signal alone.
func payloadsWithSignals(ctx context.Context, w *pgas.World) error {
	lengths := []int{0, 1, 7, 64, 513, 4096, 100_000}
	data, err := pgas.Alloc[int32](ctx, w, slices.Max(lengths))
	if err != nil {
		return err
	}
	sig, err := pgas.Alloc[pgas.Signal](ctx, w, 2)
	if err != nil {
		return err
	}
	there, back := pgas.SignalOf(sig, 0), pgas.SignalOf(sig, 1)
	for i := range 3 * len(lengths) {
		n, round := lengths[i%len(lengths)], uint64(i+1)
		payload := slices.Repeat([]int32{int32(round)}, n)
		if w.PE() == 0 {
			data.Range(0, n).PutSignal(1, payload, there, round)
			if _, err := back.WaitUntil(ctx, pgas.EQ, round); err != nil {
				return err
			}
			continue
		}
		if _, err := there.WaitUntil(ctx, pgas.EQ, round); err != nil {
			return err
		}
		if got := data.Local()[:n]; !slices.Equal(got, payload) {
			return fmt.Errorf("signal %d came before its payload of %d elements", round, n)
		}
		back.Set(0, round)
	}
	return w.Barrier(ctx)
}

// TestTrapSplitWithMembersExcluded: a split is a call of all members of the parent; those that are left
// out get no team and no error, and need not take part in what the new team does.
func TestTrapSplitWithMembersExcluded(t *testing.T) {
	onEvery(t, 5, func(ctx context.Context, w *pgas.World) error {
		me, world := w.PE(), w.Team()
		odd, err := world.SplitStrided(ctx, 1, 2, 2)
		if err != nil {
			return err
		}
		if want := map[int]int{1: 0, 3: 1}; me%2 == 1 && odd.PE() != want[me] || me%2 == 0 && odd != nil {
			return fmt.Errorf("in the team of 1 and 3 this PE is %d", odd.PE())
		}
		if odd == nil {
			if odd.PE() != -1 || world.Translate(me, odd) != -1 {
				return fmt.Errorf("in no team this PE is %d, and %d by translation", odd.PE(), world.Translate(me, odd))
			}
		} else {
			// What the members do now the others know nothing of.
			for range 40 {
				if err := odd.Barrier(ctx); err != nil {
					return err
				}
			}
			down, err := odd.SplitStrided(ctx, 1, -1, 2)
			if err != nil {
				return err
			}
			if down.PE() != 1-odd.PE() || down.WorldPE(0) != 3 {
				return fmt.Errorf("a negative stride makes this PE %d of %d, and 0 is %d", down.PE(), down.NPEs(), down.WorldPE(0))
			}
			one, err := odd.SplitStrided(ctx, 1, 0, 1)
			if err != nil || (one != nil) != (me == 3) {
				return fmt.Errorf("a team of PE 3 alone: %v on PE %d, %w", one, me, err)
			}
		}
		// The parent goes on as if nothing had been.
		if err := world.Barrier(ctx); err != nil {
			return err
		}
		return odd.Destroy(ctx)
	})
}

// TestTrapCollectivesBackToBack: collectives one after the other on one team, with the same memory and
// nothing between them, and alternating between teams that share members. Whoever is through early
// changes its source and makes the next call, while others are still in the last one.
func TestTrapCollectivesBackToBack(t *testing.T) {
	const npes = 5
	onEvery(t, npes, backToBack)
	pgastest.RunLate(t, npes, 2, backToBack)
}

func backToBack(ctx context.Context, w *pgas.World) error {
	world, me := w.Team(), w.PE()
	left, err := world.SplitStrided(ctx, 0, 1, w.NPEs()-1) // all but the last
	if err != nil {
		return err
	}
	right, err := world.SplitStrided(ctx, w.NPEs()-1, -1, w.NPEs()-1) // all but the first, backwards
	if err != nil {
		return err
	}
	mem, err := pgas.Alloc[int64](ctx, w, 2+w.NPEs())
	if err != nil {
		return err
	}
	src, one, row := mem.Range(0, 1), mem.Range(1, 2), mem.Range(2, 2+w.NPEs())
	value := func(round, pe int) int64 { return int64(1000*round + pe + 1) }
	for round := range 60 {
		team := []*pgas.Team{world, left, right}[round%3]
		if round >= 30 {
			team = world
		}
		if team == nil {
			continue
		}
		root := round % team.NPEs()
		sum, below := int64(0), int64(0)
		all := make([]int64, team.NPEs())
		for i := range all {
			all[i] = value(round, team.WorldPE(i))
			sum += all[i]
			if i < team.PE() {
				below += all[i]
			}
		}
		calls := []struct {
			name string
			call func() error
			dst  pgas.Slice[int64]
			want []int64
		}{
			{"sum", func() error { return pgas.SumReduce(ctx, team, one, src) }, one, []int64{sum}},
			{"broadcast", func() error { return pgas.Broadcast(ctx, team, one, src, root) }, one, all[root : root+1]},
			{"sync", func() error { return team.Sync(ctx) }, one, all[root : root+1]},
			{"fcollect", func() error { return pgas.FCollect(ctx, team, row.Range(0, len(all)), src) }, row, all},
			{"exscan", func() error { return pgas.SumExscan(ctx, team, one, src) }, one, []int64{below}},
			{"max", func() error { return pgas.MaxReduce(ctx, team, one, src) }, one, []int64{slices.Max(all)}},
		}
		for _, c := range calls {
			src.Local()[0] = value(round, me)
			if err := c.call(); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, c.name, err)
			}
			src.Local()[0] = -1
			if got := c.dst.Local()[:len(c.want)]; !slices.Equal(got, c.want) {
				return fmt.Errorf("round %d, %s on PE %d of %d: %d, want %d", round, c.name, team.PE(), team.NPEs(), got, c.want)
			}
		}
	}
	return w.Barrier(ctx)
}

// TestTrapManyTeams: 64 teams at once, all of them with collectives and some with a context of their own,
// going on side by side; and 64 more in their place when they have gone.
func TestTrapManyTeams(t *testing.T) {
	pgastest.Run(t, 4, manyTeams)
	pgastest.RunLate(t, 4, 2, manyTeams)
}

func manyTeams(ctx context.Context, w *pgas.World) error {
	const teams = 64
	mem, err := pgas.Alloc[int64](ctx, w, 2*teams)
	if err != nil {
		return err
	}
	for generation := range 2 {
		var alive []*pgas.Team
		for i := range teams {
			// PE 0 leads some, is last in others, and all PEs are in all of those.
			parent := w.Team()
			if i%4 == 3 {
				parent = alive[i-1]
			}
			team, err := parent.SplitColor(ctx, 0, (w.PE()+i)%w.NPEs())
			if err != nil {
				return fmt.Errorf("team %d: %w", i, err)
			}
			alive = append(alive, team)
		}
		for i, team := range alive {
			src, dst := mem.Range(i, i+1), mem.Range(teams+i, teams+i+1)
			src.Local()[0] = int64(i * team.PE())
			if err := pgas.SumReduce(ctx, team, dst, src); err != nil {
				return fmt.Errorf("team %d: %w", i, err)
			}
		}
		if err := w.Sync(ctx); err != nil { // a sum may still read the sources of others
			return err
		}
		for i, team := range alive {
			if got, want := mem.Local()[teams+i], int64(i*(0+1+2+3)); got != want {
				return fmt.Errorf("generation %d: the sum of team %d is %d, want %d", generation, i, got, want)
			}
			c := team.Context()
			if i%16 == 0 {
				if c, err = team.NewContext(); err != nil {
					return err
				}
			}
			next := (team.PE() + 1) % team.NPEs()
			mem.At(i).On(c).Put(next, int64(100*i+team.PE()))
			if err := c.Quiet(ctx); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for k := range alive { // not in the order in which they were made
			i := (k*37 + 11) % teams
			team := alive[i]
			if got, want := mem.Local()[i], int64(100*i+(team.PE()+team.NPEs()-1)%team.NPEs()); got != want {
				return fmt.Errorf("a context of team %d put %d here, want %d", i, got, want)
			}
			if err := team.Destroy(ctx); err != nil {
				return fmt.Errorf("team %d: %w", i, err)
			}
		}
	}
	return nil
}

// TestTrapHalfAWord: atomics of 8 and of 4 bytes on one word. The specification does not define them, and
// programs do it; here they are atomic to each other, and either wakes who waits for the other.
func TestTrapHalfAWord(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		const adds = 500
		s, err := pgas.Alloc[uint64](ctx, w, 2)
		if err != nil {
			return err
		}
		whole := pgas.AtomicOf(s, 0)
		low, high := pgas.FieldAtomic[uint32](s.At(0), 0), pgas.FieldAtomic[uint32](s.At(0), 4)
		for range adds {
			whole.Add(0, 1<<32|1)
			low.Add(0, 2)
			high.FetchAdd(0, 3)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		n := uint64(adds * w.NPEs())
		if got := whole.Fetch(0); got != n*4<<32|n*3 {
			return fmt.Errorf("the halves are %d and %d, want %d and %d", got>>32, uint32(got), n*4, n*3)
		}
		// A wait for the whole is woken by an update of a half, and the other way around.
		next := pgas.AtomicOf(s, 1)
		nextHigh := pgas.FieldAtomic[uint32](s.At(1), 4)
		switch w.PE() {
		case 0:
			if _, err := next.WaitUntil(ctx, pgas.EQ, 7<<32); err != nil {
				return err
			}
			next.Set(1, 9<<32)
		case 1:
			nextHigh.Set(0, 7)
			if _, err := nextHigh.WaitUntil(ctx, pgas.EQ, 9); err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
}

// TestTrapQuietsAreIndependent: the quiet of one context says nothing about another's puts and gets.
func TestTrapQuietsAreIndependent(t *testing.T) {
	out, looked := make(chan struct{}), make(chan struct{})
	pgastest.RunLate(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		s.Local()[3] = 77
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			<-out
			err = quietsOneByOne(ctx, w, s)
			close(looked)
		} else {
			close(out) // waiting in the library would let arrive what is held for this PE
			<-looked
		}
		return errors.Join(err, w.Barrier(ctx))
	})
}

// quietsOneByOne puts and gets on three contexts, and looks at what each quiet has completed.
func quietsOneByOne(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	a, err := w.NewContext()
	if err != nil {
		return err
	}
	b, err := w.NewContext(pgas.Private())
	if err != nil {
		return err
	}
	contexts := []*pgas.Context{w.Context(), a, b}
	var got [3]int64
	for i, c := range contexts {
		pgas.AtomicOf(s, i).On(c).Set(1, 5)
		s.At(3).On(c).GetNB(1, &got[i])
	}
	for i, c := range contexts {
		if err := c.Quiet(ctx); err != nil {
			return err
		}
		for j := range contexts {
			var word, get int64
			if j <= i {
				word, get = 5, 77
			}
			if at := pgas.AtomicOf(s, j).Fetch(1); at != word || got[j] != get {
				return fmt.Errorf("after %d quiets context %d has put %d and got %d, want %d and %d", i+1, j, at, got[j], word, get)
			}
		}
	}
	return errors.Join(a.Close(), b.Close())
}

// TestTrapNonBlockingGetsCompleteAtQuiet: not before, and not at a fence; the quiet of one PE does for it.
func TestTrapNonBlockingGetsCompleteAtQuiet(t *testing.T) {
	pgastest.RunLate(t, 3, 3, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		for i := range s.Local() {
			s.Local()[i] = int64(1000*w.PE() + i)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		next := (w.PE() + 1) % w.NPEs()
		for name, quiet := range map[string]func() error{
			"Quiet":   func() error { return w.Quiet(ctx) },
			"QuietPE": func() error { return w.Context().QuietPE(ctx, next) },
		} {
			var one int64
			row := make([]int64, 50)
			s.At(7).GetNB(next, &one)
			s.Range(50, 100).GetNB(next, row)
			w.Fence()
			if one != 0 || row[0] != 0 { //pgasvet:ok tests that it is not filled
				return fmt.Errorf("a non-blocking get was filled before %s", name)
			}
			if err := quiet(); err != nil {
				return err
			}
			if one != int64(1000*next+7) || row[0] != int64(1000*next+50) || row[49] != int64(1000*next+99) {
				return fmt.Errorf("after %s the gets have %d and %d…%d", name, one, row[0], row[49])
			}
		}
		return w.Barrier(ctx)
	})
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1<<16)
		if err != nil {
			return err
		}
		for i := range s.Local() {
			s.Local()[i] = int64(i)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		got := make([]int64, s.Len())
		for lo, hi := 0, 1; lo < s.Len(); lo, hi = hi, min(3*hi, s.Len()) {
			s.Range(lo, hi).GetNB(1-w.PE(), got[lo:hi])
		}
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if !slices.Equal(got, s.Local()) {
			return errors.New("a quiet left a non-blocking get undone")
		}
		return w.Barrier(ctx)
	})
}

// TestTrapWaitForOwnGoroutine: a wait is woken by an atomic or a signal of another goroutine of its own
// PE, also when it sleeps.
func TestTrapWaitForOwnGoroutine(t *testing.T) {
	pgastest.Run(t, 2, ownGoroutineWakes)
	t.Run("alone", func(t *testing.T) { pgastest.Run(t, 1, ownGoroutineWakes) })
	t.Run("asleep", func(t *testing.T) { pgastest.RunProcesses(t, 2, ownGoroutineWakes, "PGAS_SPIN=0") })
	t.Run("late", func(t *testing.T) { pgastest.RunLate(t, 2, 2, ownGoroutineWakes) })
}

func ownGoroutineWakes(ctx context.Context, w *pgas.World) error {
	const rounds = 100
	s, err := pgas.Alloc[int32](ctx, w, 2)
	if err != nil {
		return err
	}
	sig, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	me := w.PE()
	ask, answer, done := pgas.AtomicOf(s, 0), pgas.AtomicOf(s, 1), pgas.SignalOf(sig, 0)
	served := make(chan error, 1)
	go func() {
		for i := range int32(rounds) {
			if _, err := ask.WaitUntil(ctx, pgas.GT, i); err != nil {
				served <- err
				return
			}
			answer.Inc(me)
		}
		done.Set(me, 1)
		served <- nil
	}()
	for i := range int32(rounds) {
		ask.Set(me, i+1)
		if _, err := answer.WaitUntil(ctx, pgas.EQ, i+1); err != nil {
			return err
		}
	}
	if _, err := done.WaitUntil(ctx, pgas.EQ, 1); err != nil {
		return err
	}
	return errors.Join(<-served, w.Barrier(ctx))
}

// TestTrapGetsFromAComputingPE: a PE computes for a second, and as long as the others have not got what
// they want from it; it calls the library in all that time not once.
func TestTrapGetsFromAComputingPE(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		const gets = 200
		s, err := pgas.Alloc[int64](ctx, w, 1000)
		if err != nil {
			return err
		}
		done := pgas.AtomicOf(s, 0)
		own := &s.Local()[0]
		for i := range s.Local()[1:] {
			s.Local()[i+1] = int64(i + 1)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			x := uint64(1)
			for start := time.Now(); time.Since(start) < time.Second || atomic.LoadInt64(own) < int64(w.NPEs()-1); {
				for range 10_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
				if ctx.Err() != nil {
					return fmt.Errorf("%d of %d PEs were served while this one computed (%d)", atomic.LoadInt64(own), w.NPEs()-1, x)
				}
			}
			return w.Barrier(ctx)
		}
		row := make([]int64, 500)
		for i := range gets {
			if got := s.At(1 + i).Get(0); got != int64(1+i) {
				return fmt.Errorf("element %d is %d", 1+i, got)
			}
			if s.Range(500, 1000).Get(0, row); row[0] != 500 || row[499] != 999 {
				return fmt.Errorf("the row is %d…%d", row[0], row[499])
			}
		}
		done.FetchAdd(0, 1)
		return w.Barrier(ctx)
	})
}

// TestNoStoreKeepsItsFence: a context without stores leaves the program's own stores alone. Its puts and
// atomics are ordered and completed as on any other.
func TestNoStoreKeepsItsFence(t *testing.T) {
	out, issued, looked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	pgastest.RunLate(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		sig, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		c, err := w.NewContext(pgas.NoStore())
		if err != nil {
			return err
		}
		data, ready := pgas.AtomicOf(s, 0).On(c), pgas.SignalOf(sig, 0).On(c)
		if w.PE() == 0 {
			<-out
			data.Set(1, 1)
			c.Fence()
			ready.Set(1, 1)
			close(issued)
			<-looked
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			return errors.Join(w.Barrier(ctx), c.Close())
		}
		close(out)
		<-issued
		_, err = ready.WaitUntil(ctx, pgas.EQ, 1)
		got := data.Fetch(1)
		close(looked)
		if err != nil {
			return err
		}
		if got != 1 {
			return fmt.Errorf("after the fence of a context without stores the data is %d", got)
		}
		return errors.Join(w.Barrier(ctx), c.Close())
	})
}
