package notify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// everywhere runs body on PEs of every kind, over a network that is late, and in the simulator.
func everywhere(t *testing.T, npes int, body pgastest.Body) {
	t.Helper()
	pgastest.RunAll(t, npes, body)
	pgastest.RunLateSeeds(t, npes, 2, 3, body)
}

// sizes are numbers of elements on both sides of what travels in a note, of what is gathered, and of what
// one message holds.
var sizes = []int{0, 1, 5, 6, 63, 1024, 1025, 9000, 70_000}

// TestPutNotify: a PE that has waited for the notification sees the data.
func TestPutNotify(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, w *pgas.World) error {
		const most = 70_000
		mem, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		next, prev := (w.PE()+1)%w.NPEs(), (w.PE()+2)%w.NPEs()
		got := notify.New(w, prev, 7, 1)
		free := notify.New(w, next, 8, 1)
		src := make([]int64, most)
		for round, n := range sizes {
			for i := range n {
				src[i] = int64(1000*round + i + w.PE())
			}
			if round%2 == 0 {
				mem.All().PutNotify(next, src[:n], 7)
			} else {
				if err := mem.All().PutNotifyNB(next, src[:n], 7).Wait(ctx); err != nil {
					return err
				}
			}
			got.Start()
			s, err := got.Wait(ctx)
			if err != nil {
				return err
			}
			if s != (notify.Status{Source: prev, Tag: 7, Bytes: 8 * n}) {
				return fmt.Errorf("status %+v of %d elements from PE %d", s, n, prev)
			}
			for i, v := range mem.Local()[:n] {
				if want := int64(1000*round + i + prev); v != want {
					return fmt.Errorf("%d elements: the notification came before element %d, which is %d, not %d", n, i, v, want)
				}
			}
			w.Notify(prev, 8) // it may put again
			free.Start()
			if _, err := free.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestGetNotify: a PE that has waited for the notification may overwrite what was read.
func TestGetNotify(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, w *pgas.World) error {
		const most = 70_000
		mem, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		read, ready := notify.New(w, other, notify.Any, 1), notify.New(w, other, 1, 1)
		dst := make([]int64, most)
		for round, n := range sizes {
			for i := range n {
				mem.Local()[i] = int64(round + i + w.PE())
			}
			w.Notify(other, 1)
			if err := startAndWait(ctx, ready); err != nil {
				return err
			}
			if round%2 == 0 {
				mem.All().GetNotify(other, dst[:n], 2)
			} else {
				mem.All().GetNotifyNB(other, dst[:n], 2)
			}
			if err := startAndWait(ctx, read); err != nil {
				return err
			}
			if s := read.Status(); s != (notify.Status{Source: other, Tag: 2, Bytes: 8 * n}) {
				return fmt.Errorf("status %+v of %d elements", s, n)
			}
			clear(mem.Local()[:n]) // all PEs have read it
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			for i, v := range dst[:n] {
				if want := int64(round + i + other); v != want {
					return fmt.Errorf("%d elements: the notification came before element %d was read: got %d, want %d", n, i, v, want)
				}
			}
		}
		return nil
	})
}

func startAndWait(ctx context.Context, r *notify.Request) error {
	r.Start()
	_, err := r.Wait(ctx)
	return err
}

// TestAtomicNotify: notified atomics of many PEs on one word, counted by one request.
//
//ci:ucx
func TestAtomicNotify(t *testing.T) {
	everywhere(t, 3, atomicNotify)
	pgastest.RunProcesses(t, 2, atomicNotify, "PGAS_AMO=nic")
}

func atomicNotify(ctx context.Context, w *pgas.World) error {
	const rounds = 100
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	floats, err := pgas.Alloc[float64](ctx, w, 1)
	if err != nil {
		return err
	}
	word, float := pgas.AtomicOf(words, 0), pgas.AtomicFloatOf(floats, 0)
	all := notify.New(w, notify.Any, 3, 4*rounds*w.NPEs())
	if w.PE() == 0 {
		all.Start()
	}
	for range rounds {
		word.Notify(3).Inc(0)
		word.Notify(3).FetchAdd(0, 2)
		if old := word.Notify(3).CompareSwap(0, -1, 5); old == -1 {
			return errors.New("a compare-swap found what no PE stored")
		}
		float.Notify(3).Add(0, 0.5)
	}
	if err := w.Quiet(ctx); err != nil || w.PE() > 0 {
		return err
	}
	if _, err := all.Wait(ctx); err != nil {
		return err
	}
	if v := word.Fetch(0); v != int64(3*rounds*w.NPEs()) {
		return fmt.Errorf("all notifications are here, and the word is %d", v)
	}
	if v := float.Fetch(0); v != 0.5*float64(rounds*w.NPEs()) {
		return fmt.Errorf("all notifications are here, and the sum is %v", v)
	}
	return nil
}

// TestTagsAndSources: requests take what they ask for and leave the rest in order.
func TestTagsAndSources(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, w *pgas.World) error {
		const n = 50
		if w.PE() != 0 {
			for i := range n {
				w.Notify(0, i)
			}
			return nil
		}
		// Of PE 2 in descending order of tags, while everything of PE 1 stays.
		for tag := n - 1; tag >= 0; tag-- {
			r := notify.New(w, 2, tag, 1)
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			if s := r.Status(); s != (notify.Status{Source: 2, Tag: tag}) {
				return fmt.Errorf("asked for tag %d of PE 2, got %+v", tag, s)
			}
			r.Free()
		}
		s, err := notify.ProbeWait(ctx, w, 1, notify.Any)
		if err != nil || s.Tag != 0 {
			return fmt.Errorf("the oldest of PE 1 is %+v, %w", s, err)
		}
		some := notify.New(w, 1, notify.Any, 10)
		if err := startAndWait(ctx, some); err != nil || some.Status().Tag != 9 {
			return fmt.Errorf("ten from PE 1: the last is %+v, %w", some.Status(), err)
		}
		next := 10
		for s, err := range notify.New(w, notify.Any, notify.Any, 1).Arrivals(ctx) {
			if err != nil {
				return err
			}
			if s.Source != 1 || s.Tag != next {
				return fmt.Errorf("arrival %d is %+v", next, s)
			}
			if next++; next == n {
				break
			}
		}
		if s, ok := notify.Probe(w, notify.Any, notify.Any); ok {
			return fmt.Errorf("after all were taken there is %+v", s)
		}
		return nil
	})
}

// TestGroups waits for any, some and all of many requests.
func TestGroups(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, w *pgas.World) error {
		const n = 20
		other := 1 - w.PE()
		rs := make([]*notify.Request, n)
		for i := range rs {
			rs[i] = notify.New(w, other, i, 1)
			rs[i].Start()
		}
		if i, s, ok := notify.TestAny(rs...); ok {
			return fmt.Errorf("request %d is complete before anything was sent: %+v", i, s)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for i := range n {
			w.Notify(other, (7*i+3)%n)
		}
		seen := map[int]bool{}
		at, s, err := notify.WaitAny(ctx, rs...)
		if err != nil || s.Tag != at {
			return fmt.Errorf("any: request %d, %+v, %w", at, s, err)
		}
		seen[at] = true
		for len(seen) < n/2 {
			got, err := notify.WaitSome(ctx, rs, nil)
			if err != nil {
				return err
			}
			for _, i := range got {
				if seen[i] {
					return fmt.Errorf("request %d was told of twice", i)
				}
				seen[i] = true
			}
		}
		if err := notify.WaitAll(ctx, rs...); err != nil {
			return err
		}
		if !notify.TestAll(rs...) {
			return errors.New("after WaitAll something is under way")
		}
		for i, r := range rs {
			if s, ok := r.Test(); !ok || s != (notify.Status{Source: other, Tag: i}) {
				return fmt.Errorf("request %d: %+v, %v", i, s, ok)
			}
		}
		return nil
	})
}

// TestTeams: sources are numbered as the team of a request does, and any is any of its members.
func TestTeams(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, w *pgas.World) error {
		odd, err := w.Team().SplitColor(ctx, w.PE()%2, -w.PE()) // in descending order
		if err != nil {
			return err
		}
		other := 1 - odd.PE()
		w.Notify(odd.WorldPE(other)^1, 4) // from one of the other team
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		odd.Context().Notify(other, 4)
		for _, source := range []int{notify.Any, other} {
			r := notify.NewIn(odd, source, 4, 1)
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			if s := r.Status(); s != (notify.Status{Source: other, Tag: 4}) {
				return fmt.Errorf("source %d of the team: %+v", source, s)
			}
			odd.Context().Notify(other, 4)
		}
		if err := startAndWait(ctx, notify.NewIn(odd, other, 4, 1)); err != nil {
			return err
		}
		return startAndWait(ctx, notify.New(w, notify.Any, 4, 1)) // what came first of all is still there
	})
}

// TestFullRings: two PEs send each other more than there is room for before either waits for anything, and
// a third is in a barrier meanwhile.
func TestFullRings(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, w *pgas.World) error {
		n := 6000
		if testing.Short() {
			n = 1500
		}
		mem, err := pgas.Alloc[int64](ctx, w, 64)
		if err != nil {
			return err
		}
		if w.PE() < 2 {
			for i := range n {
				mem.Range(0, 1+i%8).PutNotify(1-w.PE(), make([]int64, 1+i%8), i)
				mem.At(9+w.PE()).PutNotify(2, ptr(int64(i)), i)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		from := []int{1, 0, notify.Any}[w.PE()]
		var next [2]int
		r := notify.New(w, from, notify.Any, 1)
		for range n * (1 + w.PE()/2) {
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			s := r.Status()
			if s.Tag != next[s.Source] {
				return fmt.Errorf("notification %d of PE %d came when %d was due", s.Tag, s.Source, next[s.Source])
			}
			next[s.Source]++
		}
		return nil
	})
}

// TestCountsBeyondRings: a request counts more than there is room for, waiting all the while, beside one for
// another tag, which is complete in the middle of it.
func TestCountsBeyondRings(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, w *pgas.World) error {
		const each, tag, other = 800, 1, 2
		if w.PE() != 0 {
			for i := range each {
				w.Notify(0, tag)
				if i == each/2 && w.PE() == 1 {
					w.Notify(0, other)
				}
			}
			return nil
		}
		all, one := notify.New(w, notify.Any, tag, 2*each), notify.New(w, 1, other, 1)
		all.Start()
		one.Start()
		if _, err := all.Wait(ctx); err != nil {
			return err
		}
		if _, ok := one.Test(); !ok {
			return fmt.Errorf("the notification in the middle has gone")
		}
		return nil
	})
}

func ptr[T any](v T) *T { return &v }

// TestContexts: a notification proves what is before a fence of its context, and contexts are independent.
func TestContexts(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 3000)
		if err != nil {
			return err
		}
		c, err := w.NewContext(pgas.Private())
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		r := notify.New(w, other, 5, 1)
		src := make([]int64, 3000)
		for round := range int64(50) {
			for i := range src {
				src[i] = round
			}
			mem.On(c).All().Put(other, src)
			c.Fence()
			c.Notify(other, 5)
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			if v := mem.Local()[2999]; v != round {
				return fmt.Errorf("round %d: the notification overtook a put: %d", round, v)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return c.Close()
	})
}

// TestLaterPutWins: a value that a PE stores into a word after a notified put to it, on the same context and
// without a fence, stays, and the PE's own gets see it. A later notified put wins in the same way.
func TestLaterPutWins(t *testing.T) {
	everywhere(t, 2, laterPutWins)
	pgastest.RunProcesses(t, 2, laterPutWins, "PGAS_RMA=am")
}

func laterPutWins(ctx context.Context, w *pgas.World) error {
	mem, err := pgas.Alloc[int64](ctx, w, 8)
	if err != nil {
		return err
	}
	other := 1 - w.PE()
	r := notify.New(w, other, notify.Any, 1)
	late := make([]int64, 1)
	for _, c := range []struct {
		name string
		put  func(v int64)
	}{
		{"Put", func(v int64) { mem.At(3).Put(other, v) }},
		{"Put of a slice", func(v int64) { mem.Range(3, 4).Put(other, []int64{v}) }},
		{"PutNB", func(v int64) { late[0] = v; mem.Range(3, 4).PutNB(other, late) }},
		{"atomic Set", func(v int64) { pgas.AtomicOf(mem, 3).Set(other, v) }},
		{"atomic Swap", func(v int64) { pgas.AtomicOf(mem, 3).Swap(other, v) }},
		{"notified put", func(v int64) { mem.At(3).PutNotify(other, &v, 2) }},
	} {
		for round := range int64(20) {
			old, v := 100*round+1, 100*round+2
			if round%2 == 0 {
				mem.At(3).PutNotify(other, &old, 1)
			} else {
				mem.Range(1, 6).PutNotify(other, []int64{old, old, old, old, old}, 1) // as much as a note once carried
			}
			c.put(v)
			if got := mem.At(3).Get(other); got != v {
				return fmt.Errorf("%s after a notified put: a get of the same context finds %d, want %d", c.name, got, v)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if err := startAndWait(ctx, r); err != nil {
				return err
			}
			if c.name == "notified put" {
				if err := startAndWait(ctx, r); err != nil {
					return err
				}
			}
			if got := mem.Local()[3]; got != v {
				return fmt.Errorf("%s after a notified put: the word is %d, want %d", c.name, got, v)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestCancelledWait: a wait ends with its context, and the request is still under way.
func TestCancelledWait(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, w *pgas.World) error {
		other := 1 - w.PE()
		r := notify.New(w, other, 5, 2)
		r.Start()
		w.Notify(other, 5)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := r.Wait(ended); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a wait whose context has ended returned %w", err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if _, ok := r.Test(); ok {
			return errors.New("one notification of two completes the request")
		}
		if n := r.Cancel(); n != 1 {
			return fmt.Errorf("cancelled with %d notifications of 1", n)
		}
		if err := w.Barrier(ctx); err != nil { // before more are sent
			return err
		}
		r.Start()
		w.Notify(other, 5)
		w.Notify(other, 5)
		_, err := r.Wait(ctx)
		return err
	})
}
