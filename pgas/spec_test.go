package pgas_test

// Forms of the specification's routines that no other test needs: docs/packages/openshmem.md names a test for each.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSignalForms: every form of put-with-signal brings its payload and updates its signal, in its way.
func TestSignalForms(t *testing.T) {
	onEvery(t, 3, signalForms)
	pgastest.RunLateSeeds(t, 3, 3, 3, signalForms)
}

func signalForms(ctx context.Context, w *pgas.World) error {
	data, err := pgas.Alloc[int16](ctx, w, 50)
	if err != nil {
		return err
	}
	sig, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	next, prev := (w.PE()+1)%w.NPEs(), (w.PE()+w.NPEs()-1)%w.NPEs()
	at, row, ready := data.At(0), data.All(), pgas.SignalOf(sig, 0)
	forms := []struct {
		name string
		one  bool
		adds bool
		put  func(src []int16, v uint64)
	}{
		{"Ref.PutSignal", true, false, func(src []int16, v uint64) { at.PutSignal(next, &src[0], ready, v) }},
		{"Ref.PutSignalAdd", true, true, func(src []int16, v uint64) { at.PutSignalAdd(next, &src[0], ready, v) }},
		{"Ref.PutSignalNB", true, false, func(src []int16, v uint64) { at.PutSignalNB(next, &src[0], ready, v) }},
		{"Ref.PutSignalAddNB", true, true, func(src []int16, v uint64) { at.PutSignalAddNB(next, &src[0], ready, v) }},
		{"Slice.PutSignal", false, false, func(src []int16, v uint64) { row.PutSignal(next, src, ready, v) }},
		{"Slice.PutSignalAdd", false, true, func(src []int16, v uint64) { row.PutSignalAdd(next, src, ready, v) }},
		{"Slice.PutSignalNB", false, false, func(src []int16, v uint64) { row.PutSignalNB(next, src, ready, v) }},
		{"Slice.PutSignalAddNB", false, true, func(src []int16, v uint64) { row.PutSignalAddNB(next, src, ready, v) }},
		{"SignalRef.Set", true, false, func(src []int16, v uint64) { at.Put(next, src[0]); w.Fence(); ready.Set(next, v) }},
		{"SignalRef.Add", true, true, func(src []int16, v uint64) { at.Put(next, src[0]); w.Fence(); ready.Add(next, v) }},
	}
	last := uint64(0)
	for round := range 5 * len(forms) {
		f := forms[round%len(forms)]
		payload := func(from int) []int16 { return slices.Repeat([]int16{int16(100*round + from)}, row.Len()) }
		src := payload(w.PE())
		operand, want := last+7, last+7
		if f.adds {
			operand = 7
		}
		last = want
		f.put(src, operand)
		if got, err := ready.WaitUntil(ctx, pgas.NE, want-7); err != nil {
			return err
		} else if got != want || ready.Fetch() != want || !ready.Test(pgas.EQ, want) {
			return fmt.Errorf("round %d, %s: the signal is %d, want %d", round, f.name, got, want)
		}
		n := row.Len()
		if f.one {
			n = 1
		}
		if got := row.Local()[:n]; !slices.Equal(got, payload(prev)[:n]) {
			return fmt.Errorf("round %d, %s: the signal came before its payload", round, f.name)
		}
		if err := w.Barrier(ctx); err != nil { // it also gives src back
			return err
		}
	}
	return nil
}

// TestNonBlockingReductionForms: each operator's form that does not block leaves what the other does.
func TestNonBlockingReductionForms(t *testing.T) {
	pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error {
		const n = 40
		mem, err := pgas.Alloc[uint32](ctx, w, 3*n)
		if err != nil {
			return err
		}
		team, src, want, got := w.Team(), mem.Range(0, n), mem.Range(n, 2*n), mem.Range(2*n, 3*n)
		type blocking = func(context.Context, *pgas.Team, pgas.Slice[uint32], pgas.Slice[uint32], ...pgas.CollectiveOption) error
		type form = func(context.Context, *pgas.Team, pgas.Slice[uint32], pgas.Slice[uint32], ...pgas.CollectiveOption) *pgas.Request
		for _, f := range []struct {
			name     string
			blocking blocking
			nb       form
		}{
			{"and", pgas.AndReduce[uint32], pgas.AndReduceNB[uint32]},
			{"or", pgas.OrReduce[uint32], pgas.OrReduceNB[uint32]},
			{"xor", pgas.XorReduce[uint32], pgas.XorReduceNB[uint32]},
			{"max", pgas.MaxReduce[uint32], pgas.MaxReduceNB[uint32]},
			{"min", pgas.MinReduce[uint32], pgas.MinReduceNB[uint32]},
			{"sum", pgas.SumReduce[uint32], pgas.SumReduceNB[uint32]},
			{"prod", pgas.ProdReduce[uint32], pgas.ProdReduceNB[uint32]},
			{"inscan", pgas.SumInscan[uint32], pgas.SumInscanNB[uint32]},
			{"exscan", pgas.SumExscan[uint32], pgas.SumExscanNB[uint32]},
		} {
			for i := range src.Local() {
				src.Local()[i] = uint32((w.PE()+3)*(i+5)) * 2654435761
			}
			if err := f.blocking(ctx, team, want, src); err != nil {
				return err
			}
			if err := f.nb(ctx, team, got, src).Wait(ctx); err != nil {
				return err
			}
			if !slices.Equal(got.Local(), want.Local()) {
				return fmt.Errorf("%s: the non-blocking form leaves %d, the other %d", f.name, got.Local(), want.Local())
			}
		}
		return nil
	})
}

// TestQueries: what jobs, teams and contexts say of themselves.
func TestQueries(t *testing.T) {
	pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		for pe := range w.NPEs() {
			how, near := w.TransportTo(pe), w.HostOf(pe) == w.Host()
			if how == "" || (how == "self") != (pe == w.PE()) || near != (how == "self" || how == "shm") {
				return fmt.Errorf("PE %d on %s is reached by %q", pe, w.HostOf(pe), how)
			}
			if !near {
				pgas.AtomicOf(words, 0).Add(pe, 1)
				w.MustQuiet()
			}
			if c := w.ConnectionTo(pe); c.Transport != how || (c.Text == "") != (how != "ucp") || strings.Contains(c.Text, "lane[0]") != (how == "ucp") {
				return fmt.Errorf("PE %d on %s is reached by %q: %+v", pe, w.HostOf(pe), how, c)
			}
		}
		if w.TransportTo(-1) != "" || w.TransportTo(w.NPEs()) != "" {
			return fmt.Errorf("a PE that is not in the job is reached by %q", w.TransportTo(w.NPEs()))
		}
		shared := w.SharedTeam()
		for pe := range w.NPEs() {
			if in := w.Team().Translate(pe, shared) >= 0; in != (w.HostOf(pe) == w.Host()) {
				return fmt.Errorf("PE %d on %s is in the shared team: %v", pe, w.HostOf(pe), in)
			}
		}
		team, err := w.Team().SplitStrided(ctx, 3, -1, 4, pgas.WithContexts(5))
		if err != nil {
			return err
		}
		if got := team.Config().Contexts; got != 5 {
			return fmt.Errorf("the team was made for %d contexts, want 5", got)
		}
		if got := w.Team().Config().Contexts; got != 0 {
			return fmt.Errorf("the world was made for %d contexts, want none", got)
		}
		c, err := team.NewContext()
		if err != nil {
			return err
		}
		d, err := w.NewContext()
		if err != nil {
			return err
		}
		if c.Team() != team || team.Context().Team() != team || d.Team() != w.Team() || w.Context().Team() != w.Team() {
			return fmt.Errorf("a context is of another team than it was made from")
		}
		var none *pgas.Team
		if none.PE() != -1 || none.NPEs() != 0 || none.Translate(0, team) != -1 || team.Translate(0, none) != -1 {
			return fmt.Errorf("no team has PE %d of %d", none.PE(), none.NPEs())
		}
		return team.Destroy(ctx)
	})
}

// TestElementForms: a put and a get of one element, in both ways, bring what the slices bring.
func TestElementForms(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[[3]int32](ctx, w, 2)
		if err != nil {
			return err
		}
		next, prev := (w.PE()+1)%w.NPEs(), (w.PE()+w.NPEs()-1)%w.NPEs()
		from := func(pe, i int) [3]int32 { return [3]int32{int32(pe), int32(i), -7} }
		first, second := from(w.PE(), 0), from(w.PE(), 1)
		s.At(0).Put(next, first)
		s.At(1).PutNB(next, &second)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		var nb [3]int32
		s.At(1).GetNB(next, &nb)
		got := s.At(0).Get(next)
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if here := s.Local(); here[0] != from(prev, 0) || here[1] != from(prev, 1) || got != first || nb != second {
			return fmt.Errorf("the puts of PE %d brought %d, the gets %d and %d", prev, here, got, nb)
		}
		return w.Barrier(ctx)
	}
	onEvery(t, 3, body)
	pgastest.RunLateSeeds(t, 3, 3, 3, body)
}

// TestNoTeam: what has no meaning without a team, or for the team that it asks for, panics with
// *UsageError.
func TestNoTeam(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int32](ctx, w, 6)
		if err != nil {
			return err
		}
		world, dst, src := w.Team(), s.Range(0, 3), s.Range(3, 4)
		var none *pgas.Team
		gone, err := world.SplitStrided(ctx, 0, 1, 3)
		if err != nil {
			return err
		}
		if err := gone.Destroy(ctx); err != nil {
			return err
		}
		for name, call := range map[string]func(){
			"no team, Sync":       func() { none.Sync(ctx) },
			"no team, Barrier":    func() { none.Barrier(ctx) },
			"no team, split":      func() { none.SplitStrided(ctx, 0, 1, 1) },
			"no team, Split2D":    func() { none.Split2D(ctx, 1) },
			"no team, context":    func() { none.NewContext() },
			"no team, view":       func() { none.Context() },
			"no team, config":     func() { none.Config() },
			"no team, broadcast":  func() { pgas.Broadcast(ctx, none, dst, src, 0) },
			"no team, fcollect":   func() { pgas.FCollect(ctx, none, dst, src) },
			"no team, collect":    func() { pgas.Collect(ctx, none, dst, src) },
			"no team, alltoall":   func() { pgas.AllToAll(ctx, none, dst, dst) },
			"no team, sum":        func() { pgas.SumReduce(ctx, none, src, src) },
			"no team, scan":       func() { pgas.SumExscan(ctx, none, src, src) },
			"destroyed, Sync":     func() { gone.Sync(ctx) },
			"destroyed, sum":      func() { pgas.SumReduce(ctx, gone, src, src) },
			"destroyed, twice":    func() { gone.Destroy(ctx) },
			"the world's end":     func() { world.Destroy(ctx) },
			"the host's end":      func() { w.SharedTeam().Destroy(ctx) },
			"stride 0 of 2":       func() { world.SplitStrided(ctx, 1, 0, 2) },
			"too many":            func() { world.SplitStrided(ctx, 0, 2, 3) },
			"below 0":             func() { world.SplitStrided(ctx, 1, -1, 3) },
			"size 0":              func() { world.SplitStrided(ctx, 0, 1, 0) },
			"start out of range":  func() { world.SplitStrided(ctx, 3, 1, 1) },
			"rows of none":        func() { world.Split2D(ctx, 0) },
			"one PE twice":        func() { world.SplitList(ctx, []int{1, 2, 1}) },
			"PE of a team":        func() { s.At(0).On(world.Context()).Get(3) },
			"root out of range":   func() { pgas.Broadcast(ctx, world, src, src, 3) },
			"PE of a translation": func() { world.WorldPE(3) },
		} {
			var usage *pgas.UsageError
			if err := panicOf(call); !errors.As(err, &usage) {
				return fmt.Errorf("%s: panics with %v, not with a *UsageError", name, err)
			}
		}
		return w.Barrier(ctx)
	})
}

// TestWhatQuiets: what completes the operations of which context. The witness is a non-blocking get, which
// the late network fills when its context is quiet and never sooner.
func TestWhatQuiets(t *testing.T) {
	pgastest.RunLate(t, 4, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		s.Local()[0] = 41
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		lock := pgas.LockOf(locks, 0)
		team, err := w.Team().SplitStrided(ctx, 3, -1, 4)
		if err != nil {
			return err
		}
		own, err := w.NewContext()
		if err != nil {
			return err
		}
		block, err := pgas.Alloc[int64](ctx, w, 10)
		if err != nil {
			return err
		}
		for _, c := range []struct {
			name              string
			call              func() error
			onDefault, onView bool // what is complete then: the view is the team's numbering of the default
			onOwn             bool
		}{
			{"Sync", func() error { return w.Sync(ctx) }, false, false, false},
			{"Quiet", func() error { return w.Quiet(ctx) }, true, true, false},
			{"Quiet of the team's view", func() error { return team.Context().Quiet(ctx) }, true, true, false},
			{"Quiet of another context", func() error { return own.Quiet(ctx) }, false, false, true},
			{"Barrier", func() error { return w.Barrier(ctx) }, true, true, false},
			{"Barrier of a team", func() error { return team.Barrier(ctx) }, true, true, false},
			{"Alloc", func() (err error) { _, err = pgas.Alloc[byte](ctx, w, 1); return err }, true, true, false},
			{"Realloc", func() (err error) { block, err = block.Realloc(ctx, 20); return err }, true, true, false},
			{"Free", func() error { return block.Free(ctx) }, true, true, false},
			{"Unlock", func() error {
				if err := lock.Lock(ctx); err != nil {
					return err
				}
				return lock.Unlock()
			}, true, true, false},
			{"Close", func() error { return own.Close() }, false, false, true},
		} {
			far := (w.PE() + 2) % 4 // on the other host, and so it is in the team
			var onDefault, onView, onOwn int64
			s.At(0).GetNB(far, &onDefault)
			s.At(0).On(team.Context()).GetNB(team.PE()^2, &onView)
			s.At(0).On(own).GetNB(far, &onOwn)
			if err := c.call(); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if got := [3]bool{onDefault == 41, onView == 41, onOwn == 41}; got != [3]bool{c.onDefault, c.onView, c.onOwn} {
				return fmt.Errorf("%s completes what was issued on the default context, its view and another: %v", c.name, got)
			}
			if c.name != "Close" {
				if err := own.Quiet(ctx); err != nil {
					return err
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		ofTeam, err := team.NewContext()
		if err != nil {
			return err
		}
		var onTeam int64
		s.At(0).On(ofTeam).GetNB(team.PE()^2, &onTeam)
		if err := team.Destroy(ctx); err != nil {
			return err
		}
		if onTeam != 41 {
			return fmt.Errorf("the end of a team left a get of one of its contexts undone")
		}
		return nil
	})
}

// TestMemoryIsThereWhenAllocReturns: whoever returns from an allocation may use the memory of others, who
// need not have returned; and what was put there before they have stays.
func TestMemoryIsThereWhenAllocReturns(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		const n = 3000
		for round := range 30 {
			s, err := pgas.Alloc[int32](ctx, w, n)
			if err != nil {
				return err
			}
			next, prev := (w.PE()+1)%w.NPEs(), (w.PE()+w.NPEs()-1)%w.NPEs()
			row := slices.Repeat([]int32{int32(100*round + w.PE() + 1)}, n/2)
			s.Range(0, n/2).Put(next, row)
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			want := append(slices.Repeat([]int32{int32(100*round + prev + 1)}, n/2), make([]int32, n/2)...)
			if !slices.Equal(s.Local(), want) {
				return fmt.Errorf("round %d: what was put while this PE allocated is lost", round)
			}
			if err := s.Free(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	onEvery(t, 3, body)
	pgastest.RunLate(t, 3, 2, body)
}

// TestRuntimeOnALateNetwork: what the runtime itself sends between hosts needs no luck with its order.
func TestRuntimeOnALateNetwork(t *testing.T) {
	const seed = 77
	for _, c := range []struct{ npes, hosts int }{{2, 2}, {5, 3}, {8, 8}} {
		for name, body := range map[string]pgastest.Body{
			"reductions":  reductionsOn(c.npes, []int{0, 1, 124, 125, 1300}),
			"collectives": func(ctx context.Context, w *pgas.World) error { return randomCollectives(ctx, w, seed, 200) },
			"locks":       func(ctx context.Context, w *pgas.World) error { return exclude(ctx, w, 3, 100) },
		} {
			t.Run(fmt.Sprintf("%s of %d on %d", name, c.npes, c.hosts), func(t *testing.T) {
				pgastest.RunLate(t, c.npes, c.hosts, body)
			})
		}
	}
}
