package pgas_test

// What PEs count, against what the program itself counts of its calls.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/stats"
)

// countedRun is a PE's side of a random program. Each PE writes only to elements of its own on the others.
type countedRun struct {
	w        *pgas.World
	me       int
	team     *pgas.Team        // that the PE numbers of calls are of
	c        *pgas.Context     // that calls are on
	written  pgas.Slice[int64] // slots of 16, by writer
	read     pgas.Slice[int64] // nobody writes to it
	word     pgas.Atomic[uint64]
	half     pgas.Atomic[uint32]
	float    pgas.AtomicFloat[float64]
	signal   pgas.SignalRef
	src, dst []int64
	old      uint64
	notes    []uint64 // left at each PE of the job
}

const countedSlot = 16

func newCountedRun(ctx context.Context, w *pgas.World) (*countedRun, error) {
	r := &countedRun{w: w, me: w.PE(), team: w.Team(), c: w.Context(), src: make([]int64, countedSlot), dst: make([]int64, countedSlot), notes: make([]uint64, w.NPEs())}
	written, err := pgas.Alloc[int64](ctx, w, countedSlot*w.NPEs())
	read, err2 := pgas.Alloc[int64](ctx, w, countedSlot)
	words, err3 := pgas.Alloc[uint64](ctx, w, 1)
	halves, err4 := pgas.Alloc[uint32](ctx, w, 1)
	floats, err5 := pgas.Alloc[float64](ctx, w, w.NPEs()) // alone at its word, a PE swaps once for each operation
	signals, err6 := pgas.Alloc[pgas.Signal](ctx, w, w.NPEs())
	for _, err := range []error{err, err2, err3, err4, err5, err6} {
		if err != nil {
			return nil, err
		}
	}
	r.written, r.read = written.Range(countedSlot*r.me, countedSlot*(r.me+1)), read.All()
	r.word, r.half, r.float = pgas.AtomicOf(words, 0), pgas.AtomicOf(halves, 0), pgas.AtomicFloatOf(floats, r.me)
	r.signal = pgas.SignalOf(signals, r.me)
	return r, nil
}

// on returns r with calls on c, a context of another team or of the same.
func (r countedRun) on(c *pgas.Context) *countedRun {
	r.team, r.c = c.Team(), c
	r.written, r.read, r.word, r.half, r.float, r.signal = r.written.On(c), r.read.On(c), r.word.On(c), r.half.On(c), r.float.On(c), r.signal.On(c)
	return &r
}

// countedCall is one call of the program. It returns the bytes that it moves.
type countedCall struct {
	kind string
	call func(r *countedRun, pe, n int) int
}

// words8 returns the bytes of n words.
func words8(n int) int { return 8 * n }

// do is a call that moves the given bytes.
func do(kind string, bytes int, call func(r *countedRun, pe int)) countedCall {
	return countedCall{kind, func(r *countedRun, pe, _ int) int { call(r, pe); return bytes }}
}

// move is a call that moves n words, from 0 to countedSlot.
func move(kind string, call func(r *countedRun, pe, n int)) countedCall {
	return countedCall{kind, func(r *countedRun, pe, n int) int { call(r, pe, n); return words8(n) }}
}

var countedCalls = []countedCall{
	do("put", 8, func(r *countedRun, pe int) { r.written.At(1).Put(pe, 7) }),
	do("put", 8, func(r *countedRun, pe int) { r.written.At(1).PutNB(pe, &r.src[0]) }),
	move("put", func(r *countedRun, pe, n int) { r.written.Put(pe, r.src[:n]) }),
	move("put", func(r *countedRun, pe, n int) { r.written.PutNB(pe, r.src[:n]) }),
	do("put", 3*8, func(r *countedRun, pe int) { r.written.IPut(pe, r.src, 2, 3, 3) }),
	do("put", 2*4*8, func(r *countedRun, pe int) { r.written.IBPutNB(pe, r.src, 5, 4, 4, 2) }),
	do("get", 8, func(r *countedRun, pe int) { r.read.At(2).Get(pe) }),
	move("get", func(r *countedRun, pe, n int) { r.read.Get(pe, r.dst[:n]) }),
	move("get", func(r *countedRun, pe, n int) { r.read.GetNB(pe, r.dst[:n]); r.w.MustQuiet() }),
	do("get", 5*8, func(r *countedRun, pe int) { r.read.IGet(pe, r.dst, 1, 3, 5) }),
	do("get", 2*3*8, func(r *countedRun, pe int) { r.read.IBGet(pe, r.dst, 8, 4, 3, 2) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.word.Add(pe, 1) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.word.Or(pe, 1) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.word.Xor(pe, 3) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.word.Max(pe, 9) }),
	do("atomic", 4, func(r *countedRun, pe int) { r.half.Set(pe, 9) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.float.Set(pe, 1.5) }),
	do("atomic", 8, func(r *countedRun, pe int) { r.signal.Add(pe, 1) }),
	do("fetch", 8, func(r *countedRun, pe int) { r.word.FetchAdd(pe, 1) }),
	do("fetch", 8, func(r *countedRun, pe int) { r.word.FetchInc(pe) }),
	do("fetch", 8, func(r *countedRun, pe int) { r.word.FetchAddNB(pe, 1, &r.old); r.w.MustQuiet() }),
	do("fetch", 8, func(r *countedRun, pe int) { r.word.CompareSwap(pe, 1, 2) }),
	do("fetch", 8, func(r *countedRun, pe int) { r.word.FetchMin(pe, 2) }),
	do("fetch", 4, func(r *countedRun, pe int) { r.half.Swap(pe, 2) }),
	do("fetch", 4, func(r *countedRun, pe int) { r.half.Fetch(pe) }),
	do("signal", 8+8, func(r *countedRun, pe int) { r.written.At(0).PutSignal(pe, &r.src[0], r.signal, 1) }),
	do("signal", 5*8+8, func(r *countedRun, pe int) { r.written.PutSignalAdd(pe, r.src[:5], r.signal, 1) }),
	do("signal", 6*8+8, func(r *countedRun, pe int) { r.written.PutSignalNB(pe, r.src[:6], r.signal, 1) }),
	do("notified", 0, func(r *countedRun, pe int) { r.note(pe); r.c.Notify(pe, 1) }),
	do("notified", 8, func(r *countedRun, pe int) { r.note(pe); r.written.At(0).PutNotify(pe, &r.src[0], 2) }),
	do("notified", 4*8, func(r *countedRun, pe int) { r.note(pe); r.written.PutNotifyNB(pe, r.src[:4], 3) }),
	do("notified", 3*8, func(r *countedRun, pe int) { r.note(pe); r.read.GetNotify(pe, r.dst[:3], 4) }),
	do("notified", 8, func(r *countedRun, pe int) { r.note(pe); r.word.Notify(5).Add(pe, 1) }),
	do("notified", 8, func(r *countedRun, pe int) { r.note(pe); r.word.Notify(6).FetchAdd(pe, 1) }),
}

// note counts a note that r is about to leave.
func (r *countedRun) note(pe int) { r.notes[r.team.WorldPE(pe)]++ }

// tally is what a program counts: operations and bytes, by PE of the job and kind.
type tally map[int]map[string]stats.Traffic

func (t tally) add(pe int, kind string, bytes int) {
	if t[pe] == nil {
		t[pe] = map[string]stats.Traffic{}
	}
	k := t[pe][kind]
	t[pe][kind] = stats.Traffic{Operations: k.Operations + 1, Bytes: k.Bytes + uint64(bytes)}
}

// since returns what s has counted since an earlier time, without messages of the runtime.
func since(s, earlier stats.PE) tally {
	was := map[int]map[string]stats.Traffic{}
	for _, p := range earlier.Peers {
		was[p.PE] = p.Kinds
	}
	t := tally{}
	for _, p := range s.Peers {
		for kind, n := range p.Kinds {
			old := was[p.PE][kind]
			if kind == "runtime" || n == old {
				continue
			}
			if t[p.PE] == nil {
				t[p.PE] = map[string]stats.Traffic{}
			}
			t[p.PE][kind] = stats.Traffic{Operations: n.Operations - old.Operations, Bytes: n.Bytes - old.Bytes}
		}
	}
	return t
}

// random makes calls, and returns what they are to count.
func (r *countedRun) random(ctx context.Context, seed uint64, contexts []*pgas.Context, sum pgas.Slice[int64]) (tally, error) {
	rnd, want := rand.New(rand.NewPCG(seed, uint64(r.me))), tally{}
	for i := range 4 * len(countedCalls) {
		on := r.on(contexts[rnd.IntN(len(contexts))])
		pe, call := rnd.IntN(on.team.NPEs()), countedCalls[i%len(countedCalls)]
		want.add(on.team.WorldPE(pe), call.kind, call.call(on, pe, rnd.IntN(countedSlot+1)))
		switch rnd.IntN(9) {
		case 0:
			on.c.Fence()
		case 1:
			if err := on.c.Quiet(ctx); err != nil {
				return nil, err
			}
		}
		if i%40 == 0 { // collectives are the runtime's
			if err := pgas.SumReduce(ctx, r.w.Team(), sum, sum); err != nil {
				return nil, err
			}
			if err := r.w.Barrier(ctx); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range contexts {
		if err := c.Quiet(ctx); err != nil {
			return nil, err
		}
	}
	return want, nil
}

// takeNotes waits for all notes of the program, half of which are unexpected for sure.
func (r *countedRun) takeNotes(ctx context.Context, at pgas.Atomic[uint64]) error {
	for pe, n := range r.notes {
		at.Add(pe, n)
	}
	if err := r.w.Barrier(ctx); err != nil {
		return err
	}
	n := int(at.Fetch(r.me))
	if n == 0 {
		return nil
	}
	// ProbeWait takes what has arrived from the queue.
	if _, err := notify.ProbeWait(ctx, r.w, notify.Any, notify.Any); err != nil {
		return err
	}
	all := notify.New(r.w, notify.Any, notify.Any, n)
	all.Start()
	if _, err := all.Wait(ctx); err != nil {
		return err
	}
	if s := r.w.Stats().Notes; s.Matched != uint64(n) || s.Unexpected == 0 || s.Unexpected > s.Matched {
		return fmt.Errorf("%d notes were waited for, and counted: %+v", n, s)
	}
	return nil
}

// countedProgram is the body of a PE.
func countedProgram(ctx context.Context, w *pgas.World) error {
	r, err := newCountedRun(ctx, w)
	if err != nil {
		return err
	}
	sum, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	noted, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	half, err := w.Team().SplitColor(ctx, w.PE()%2, -w.PE())
	if err != nil {
		return err
	}
	own, err := half.NewContext()
	if err != nil {
		return err
	}
	defer own.Close()
	before := w.Stats()
	want, err := r.random(ctx, 1, []*pgas.Context{w.Context(), half.Context(), own}, sum.All())
	if err != nil {
		return err
	}
	got := w.Stats()
	if is := since(got, before); !maps.EqualFunc(is, want, maps.Equal[map[string]stats.Traffic]) {
		return fmt.Errorf("counted %v\nand not %v", is, want)
	}
	if err := sumsUp(w, got); err != nil {
		return err
	}
	return r.takeNotes(ctx, pgas.AtomicOf(noted, 0))
}

// sumsUp checks what is to hold of the counts of any PE that has used its peers and its heap.
func sumsUp(w *pgas.World, s stats.PE) error {
	var all stats.Traffic
	remote := os.Getenv("PGAS_AMO") == "nic"
	for _, p := range s.Peers {
		t := p.Total()
		all.Operations, all.Bytes = all.Operations+t.Operations, all.Bytes+t.Bytes
		remote = remote || w.TransportTo(p.PE) == "ucp" && t.Operations > 0
	}
	for pe := range w.NPEs() {
		if w.TransportTo(pe) == "ucp" && w.ConnectionTo(pe).Text == "" {
			return fmt.Errorf("where PEs count, the connection to PE %d says nothing of itself", pe)
		}
	}
	if !s.Recorded || s.PE != w.PE() || all != s.Total() {
		return fmt.Errorf("the peers of %+v have %+v in all", s, all)
	}
	if m := s.Messages; remote != (m.Sent > 0) || m.Operations < m.Sent || m.Sent > 0 && m.MeanBytes() < 4 {
		return fmt.Errorf("messages to other hosts: %+v", m)
	}
	if use := w.HeapUsage(); s.Heap.InUse != use.InUse || s.Heap.High < s.Heap.InUse {
		return fmt.Errorf("the heap: %+v, and HeapUsage %+v", s.Heap, use)
	}
	causes := s.Causes()
	if len(causes) == 0 || len(causes) != len(s.Blocked) || s.Blocked[causes[0]].Time == 0 {
		return fmt.Errorf("blocked for %v: %v", causes, s.Blocked)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var back stats.PE
	if err := json.Unmarshal(text, &back); err != nil || fmt.Sprint(back) != fmt.Sprint(s) {
		return fmt.Errorf("as JSON: %s (%v)", text, err)
	}
	return nil
}

// TestStatsCountsAll: on each kind of PEs and transport, a PE counts exactly what its program has done.
//
//ci:ucx=nic
func TestStatsCountsAll(t *testing.T) {
	withoutRaces(t)
	t.Setenv("PGAS_STATS", "1")
	t.Setenv("PGAS_RACE", "plain") // the PEs do not care what is in the memory that they all put to
	pgastest.RunAll(t, 4, countedProgram)
	pgastest.RunLate(t, 4, 2, countedProgram)
	t.Run("nic", func(t *testing.T) { pgastest.RunProcesses(t, 2, countedProgram, "PGAS_AMO=nic") })
}

// TestStatsNotRecorded: without a record, all that is known is the use of the heap.
func TestStatsNotRecorded(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		s.At(0).Put(1-w.PE(), 1)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		got := w.Stats()
		if got.Recorded || len(got.Peers) > 0 || len(got.Blocked) > 0 || got.PE != w.PE() {
			return fmt.Errorf("nothing is recorded, and Stats returns %+v", got)
		}
		if got.Heap.InUse != w.HeapUsage().InUse || got.Heap.High < 800 {
			return fmt.Errorf("heap %+v", got.Heap)
		}
		if err := s.Free(ctx); err != nil {
			return err
		}
		if now := w.Stats().Heap; now.InUse != got.Heap.InUse-832 || now.High != got.Heap.High {
			return fmt.Errorf("heap %+v after Free, and %+v before", now, got.Heap)
		}
		return nil
	})
}

// TestStatsFastPath: where nothing is recorded, accesses find the heaps of all PEs of the host, and nothing that counts
// is in their way. Where something is, they find none and go through what counts.
func TestStatsFastPath(t *testing.T) {
	t.Setenv("PGAS_RACE", "plain")
	const npes = 3
	for _, on := range []bool{false, true} {
		err := pgastest.Goroutines(t.Context(), npes, pgastest.Options{Stats: on}, func(ctx context.Context, w *pgas.World) error {
			c, err := w.NewContext()
			if err != nil {
				return err
			}
			for _, c := range []*pgas.Context{w.Context(), w.Team().Context(), c} {
				heaps, words, counts := pgas.FastPath(c)
				if off := !on && heaps == npes && words == npes && !counts; !off && !(on && heaps == 0 && words == 0 && counts) {
					return fmt.Errorf("recorded %v: %d heaps, %d tables of words, counts %v", on, heaps, words, counts)
				}
			}
			return c.Close()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestStatsWaits: where time is virtual, a late PE costs the others exactly its delay, and they say for whom they have
// waited.
func TestStatsWaits(t *testing.T) {
	const npes, late, delay = 4, 2, time.Millisecond
	_, err := sim.Run(t.Context(), sim.Config{Topology: "host:2", Stats: true}, npes, func(ctx context.Context, w *pgas.World) error {
		lock, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		before := w.Stats()
		if w.PE() == late {
			if err := w.Sleep(ctx, delay); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		s := w.Stats()
		waited := s.Blocked["barrier"].Time - before.Blocked["barrier"].Time
		if on := w.PE() != late; on != (waited > delay/2) || waited > 2*delay {
			return fmt.Errorf("PE %d has waited %v at the barrier for PE %d, which came %v late", w.PE(), waited, late, delay)
		}
		for _, p := range s.Peers { // a member waits for whichever is late, and hears of it from another one
			if p.Blocked > delay/2 {
				return fmt.Errorf("PE %d has waited %v for PE %d in a barrier, in which waits are for no PE in particular", w.PE(), p.Blocked, p.PE)
			}
		}
		return holdInTurn(ctx, w, pgas.LockOf(lock, 0), delay)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holdInTurn has PE 0 hold a lock until all others wait for it.
func holdInTurn(ctx context.Context, w *pgas.World, l pgas.LockRef, hold time.Duration) error {
	if err := w.Sleep(ctx, time.Duration(w.PE())*hold/100); err != nil {
		return err
	}
	if err := l.Lock(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := w.Sleep(ctx, hold); err != nil {
			return err
		}
	}
	if err := l.Unlock(); err != nil {
		return err
	}
	s := w.Stats()
	if waits := w.PE() != 0; waits != (s.Locks.Waited == 1) || waits != (s.Locks.Alone == 0) || waits != (s.Blocked["lock"].Time > hold/2) {
		return fmt.Errorf("PE %d: locks %+v, blocked %v", w.PE(), s.Locks, s.Blocked)
	}
	level := map[int]string{1: "host", 2: "machine", 3: "host"}[w.PE()] // the PE before is the one that it came behind
	if got := s.Locks.HandOvers; w.PE() > 0 && (len(got) != 1 || got[0] != stats.HandOver{Level: level, Count: 1}) {
		return fmt.Errorf("PE %d has the lock from PE %d: %+v", w.PE(), w.PE()-1, got)
	}
	return nil
}
