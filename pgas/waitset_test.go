package pgas_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// seeded runs body with a seed that all PEs have in common. WAITSEED in the environment is one, which
// unlike a flag PEs that are processes have too.
func seeded(name string, body func(ctx context.Context, w *pgas.World, seed uint64) error) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		seeds, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			seed, err := strconv.ParseUint(os.Getenv("WAITSEED"), 10, 64)
			if err != nil {
				seed = rand.Uint64()
			}
			seeds.Local()[0] = seed
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		seed := seeds.At(0).Get(0)
		if err := body(ctx, w, seed); err != nil {
			return fmt.Errorf("%w (to replay: WAITSEED=%d go test ./pgas -run %s)", err, seed, name)
		}
		return w.Barrier(ctx)
	}
}

// howeverTheyWait runs body where waits differ: on each kind of PE, with sleep at once, over a late network.
func howeverTheyWait(t *testing.T, npes int, body pgastest.Body) {
	howeverRealPEsWait(t, npes, body)
	pgastest.RunSim(t, npes, body)
}

// howeverRealPEsWait is howeverTheyWait without the simulator, for bodies that start goroutines.
func howeverRealPEsWait(t *testing.T, npes int, body pgastest.Body) {
	onReal(t, npes, body)
	t.Run("asleep", func(t *testing.T) { pgastest.RunProcesses(t, npes, body, "PGAS_SPIN=0") })
	t.Run("hosts asleep", func(t *testing.T) { pgastest.RunHosts(t, npes, 2, body, "PGAS_SPIN=0") })
	pgastest.RunLateSeeds(t, npes, 2, 1, body)
}

// holds is what a comparison means, said once more.
func holds[W pgas.Word](c pgas.Cmp, a, b W) bool {
	order := cmp.Compare(a, b)
	return map[pgas.Cmp]bool{
		pgas.EQ: order == 0, pgas.NE: order != 0, pgas.GT: order > 0,
		pgas.GE: order >= 0, pgas.LT: order < 0, pgas.LE: order <= 0,
	}[c]
}

// TestWaitSetsAgainstTwin: on memory that rests, each test and each wait of a random set gives what a
// naive loop over the words gives.
func TestWaitSetsAgainstTwin(t *testing.T) {
	pgastest.RunGoroutines(t, 1, seeded(t.Name(), func(ctx context.Context, w *pgas.World, seed uint64) error {
		rng := rand.New(rand.NewPCG(seed, 0))
		return errors.Join(
			againstTwin[int32](ctx, w, rng), againstTwin[uint32](ctx, w, rng),
			againstTwin[int64](ctx, w, rng), againstTwin[uint64](ctx, w, rng),
			againstTwin[int](ctx, w, rng), againstTwin[uintptr](ctx, w, rng),
		)
	}))
}

func againstTwin[W pgas.Word](ctx context.Context, w *pgas.World, rng *rand.Rand) error {
	const most = 200
	s, err := pgas.Alloc[W](ctx, w, most)
	if err != nil {
		return err
	}
	top := W(1) // the highest bit: the smallest signed number
	for top<<1 != 0 {
		top <<= 1
	}
	minus := ^W(0)
	extremes := []W{0, 1, 2, 7, minus, minus - 1, top, top - 1, top + 1, top >> 1}
	value := func() W { return extremes[rng.IntN(len(extremes))] }
	for range 2000 {
		lo := rng.IntN(most)
		n := rng.IntN(min(most-lo, 1<<rng.IntN(9)) + 1)
		words := pgas.AtomicsOf(s.Range(lo, lo+n))
		for i := range n {
			words.At(i).Set(0, value())
		}
		c := pgas.Cmp(rng.IntN(6))
		wants := slices.Repeat([]W{value()}, n)
		var set *pgas.WaitSet[W]
		if rng.IntN(2) == 0 && n > 0 {
			set = words.Until(c, wants[0])
		} else {
			for i := range wants {
				wants[i] = value()
			}
			set = words.UntilEach(c, wants)
		}
		var skip []bool
		if rng.IntN(3) > 0 {
			skip = make([]bool, n)
			for i := range skip {
				skip[i] = rng.IntN(3) > 0
			}
			if rng.IntN(8) == 0 {
				skip = slices.Repeat([]bool{true}, n)
			}
		}
		var have []int // the words that compare true
		var members int
		for i := range n {
			if skip != nil && skip[i] {
				continue
			}
			members++
			if holds(c, words.At(i).Fetch(0), wants[i]) {
				have = append(have, i)
			}
		}
		if err := compareSet(ctx, words, set.Except(skip), have, members); err != nil {
			return fmt.Errorf("%d words of type %T, %s %v, except %v: %w", n, minus, c, wants, skip, err)
		}
	}
	return nil
}

// compareSet holds set against the words that it should find true, have, of all its members.
func compareSet[W pgas.Word](ctx context.Context, words pgas.AtomicSlice[W], set *pgas.WaitSet[W], have []int, members int) error {
	right := func(what string, i int, v W) error {
		if i < 0 && len(have) == 0 || slices.Contains(have, i) && words.At(i).Fetch(0) == v {
			return nil
		}
		return fmt.Errorf("%s found word %d with %d, of %v", what, i, v, have)
	}
	same := func(what string, got []int) error {
		slices.Sort(got)
		if !slices.Equal(got, have) {
			return fmt.Errorf("%s found %v, not %v", what, got, have)
		}
		return nil
	}
	i, v := set.TestAny()
	err := errors.Join(right("TestAny", i, v), same("TestSome", set.TestSome(nil)))
	if got := set.TestAll(); got != (len(have) == members) {
		err = errors.Join(err, fmt.Errorf("TestAll: %v, with %v of %d", got, have, members))
	}
	if len(have) == 0 && members > 0 {
		return err // a wait would not end
	}
	i, v, e := set.WaitAny(ctx)
	some, e2 := set.WaitSome(ctx, nil)
	err = errors.Join(err, e, e2, right("WaitAny", i, v), same("WaitSome", some))
	if len(have) < members {
		return err
	}
	var got []int
	for i, v := range set.Arrivals(ctx) {
		got = append(got, i)
		err = errors.Join(err, right("Arrivals", i, v))
	}
	return errors.Join(err, same("Arrivals", got), set.Err(), set.WaitAll(ctx))
}

// TestWaitSetsAcrossPEs: random sets are waited for while the other PEs update their words in an order
// of their own.
func TestWaitSetsAcrossPEs(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World, seed uint64) error {
		return errors.Join(acrossPEs[int64](ctx, w, seed), acrossPEs[uint32](ctx, w, seed))
	}
	howeverTheyWait(t, 3, seeded(t.Name(), body))
}

func acrossPEs[W pgas.Word](ctx context.Context, w *pgas.World, seed uint64) error {
	const most = 150
	s, err := pgas.Alloc[W](ctx, w, most)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 1)) // the same on every PE
	own := rand.New(rand.NewPCG(seed, uint64(2+w.PE())))
	for round := range 12 {
		n := 1 + rng.IntN(min(most, 1<<rng.IntN(8)))
		words := pgas.AtomicsOf(s.Range(most-n, most))
		skip := make([]bool, n)
		for i := range skip {
			skip[i] = rng.IntN(4) == 0
		}
		for i := range n {
			words.At(i).Set(w.PE(), 0)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for _, i := range own.Perm(n) { // word i becomes i+1 on every other PE, by those two together
			for pe := range w.NPEs() {
				if pe == w.PE() || skip[i] {
					continue
				}
				if w.PE() == (pe+1)%w.NPEs() {
					words.At(i).Add(pe, W(i))
				} else {
					words.At(i).Inc(pe)
				}
			}
		}
		wants := make([]W, n)
		for i := range wants {
			wants[i] = W(i) + 1
		}
		if err := waitSomehow(ctx, words.UntilEach(pgas.EQ, wants).Except(skip), wants, skip, own.IntN(4)); err != nil {
			return fmt.Errorf("round %d, %d words: %w", round, n, err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return s.Free(ctx)
}

// waitSomehow waits for all words of a set in one of four ways.
func waitSomehow[W pgas.Word](ctx context.Context, set *pgas.WaitSet[W], wants []W, skip []bool, way int) error {
	came := slices.Clone(skip)
	arrived := func(i int, v W) error {
		if came[i] || v != wants[i] {
			return fmt.Errorf("word %d came with %d, not %d, or again", i, v, wants[i])
		}
		came[i] = true
		return nil
	}
	var err error
	switch way {
	case 0:
		for i, v := range set.Arrivals(ctx) {
			err = errors.Join(err, arrived(i, v))
		}
		err = errors.Join(err, set.Err())
	case 1: // as the specification's loops do: the set excludes the words that it has returned
		set.Except(came)
		for i := 0; i >= 0 && err == nil; {
			var v W
			if i, v, err = set.WaitAny(ctx); i >= 0 {
				err = arrived(i, v)
			}
		}
	case 2:
		set.Except(came)
		var buf []int
		for err == nil {
			if buf, err = set.WaitSome(ctx, buf[:0]); len(buf) == 0 {
				break
			}
			for _, i := range buf {
				err = errors.Join(err, arrived(i, wants[i]))
			}
		}
	case 3:
		if err = set.WaitAll(ctx); err == nil && set.TestAll() {
			return nil
		}
	}
	if err == nil && slices.Contains(came, false) {
		err = fmt.Errorf("not all have come: %v", came)
	}
	return err
}

// TestWaitAllSeesWhatPasses: a word that compared true once need not when the last one does. Here one word at a time
// does, in turn, until the wait has seen each.
func TestWaitAllSeesWhatPasses(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		const n = 3
		s, err := pgas.Alloc[int32](ctx, w, n)
		if err != nil {
			return err
		}
		words := pgas.AtomicsOf(s.All())
		passed := make(chan error, 1)
		go func() {
			passed <- words.Until(pgas.EQ, 1).WaitAll(ctx)
		}()
		for i := 0; ; i = (i + 1) % n {
			words.At(i).Set(0, 1)
			select {
			case err := <-passed:
				return err
			case <-time.After(5 * time.Millisecond): // the wait sees the word, or does when its turn comes again
			}
			words.At(i).Set(0, 2)
		}
	})
}

// TestAnyIsFair: words that stay true are all returned, in turn, by a set that is kept; by sets made for
// one wait each they are all returned too, whatever other sets are made in between.
func TestAnyIsFair(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 300)
		if err != nil {
			return err
		}
		for i := range s.Len() {
			pgas.AtomicOf(s, i).Set(0, 1)
		}
		for _, n := range []int{1, 2, 3, 7, 64, 65, 300} {
			words := pgas.AtomicsOf(s.Range(0, n))
			skip := make([]bool, n)
			for i := range skip {
				skip[i] = i%3 == 1 && n > 3
			}
			for _, skip := range [][]bool{nil, skip} {
				set := words.Until(pgas.EQ, 1).Except(skip)
				members := len(set.TestSome(nil))
				kept := func(k int) (int, error) {
					if k%2 == 0 {
						i, _ := set.TestAny()
						return i, nil
					}
					i, _, err := set.WaitAny(ctx)
					return i, err
				}
				for range 3 { // in any series of as many calls as there are words, each word is returned once
					if most, err := mostOften(members, members, kept); err != nil || most != 1 {
						return fmt.Errorf("%d of %d words: one was returned %d times in a round, %v", members, n, most, err)
					}
				}
				for others := range 4 {
					fresh := func(int) (int, error) {
						for range others {
							words.Until(pgas.EQ, 1)
						}
						i, _, err := words.Until(pgas.EQ, 1).Except(skip).WaitAny(ctx)
						return i, err
					}
					if _, err := mostOften(members, 30*n, fresh); err != nil {
						return fmt.Errorf("%d of %d words, new sets with %d others between: %w", members, n, others, err)
					}
				}
			}
		}
		return nil
	})
}

// mostOften calls any repeatedly and returns the largest number of times that one word was returned. It fails unless
// each word was returned.
func mostOften(words, calls int, any func(k int) (int, error)) (most int, err error) {
	counts := map[int]int{}
	for k := range calls {
		i, err := any(k)
		if err != nil {
			return 0, err
		}
		counts[i]++
		most = max(most, counts[i])
	}
	if len(counts) != words {
		return most, fmt.Errorf("%d calls returned %d of %d words that stayed true", calls, len(counts), words)
	}
	return most, nil
}

// TestServerOfManyClients checks a PE that serves requests by WaitAny, and sleeps in between. A lost wake-up would
// hang it, and so would a starved client.
func TestServerOfManyClients(t *testing.T) {
	const requests = 200
	howeverTheyWait(t, 4, func(ctx context.Context, w *pgas.World) error {
		sigs, err := pgas.Alloc[pgas.Signal](ctx, w, w.NPEs()+1)
		if err != nil {
			return err
		}
		asked, reply := pgas.SignalsOf(sigs.Range(0, w.NPEs())), pgas.SignalOf(sigs, w.NPEs())
		if w.PE() != 0 {
			for k := range uint64(requests) {
				asked.At(w.PE()).Set(0, k+1)
				if _, err := reply.WaitUntil(ctx, pgas.EQ, k+1); err != nil {
					return err
				}
			}
			return w.Barrier(ctx)
		}
		served := make([]uint64, w.NPEs())
		requested := asked.UntilEach(pgas.GT, served)
		for range requests * (w.NPEs() - 1) {
			pe, v, err := requested.WaitAny(ctx)
			if err != nil {
				return err
			}
			if v != served[pe]+1 {
				return fmt.Errorf("PE %d asks for request %d after %d", pe, v, served[pe])
			}
			served[pe] = v
			reply.Set(pe, v)
		}
		return w.Barrier(ctx)
	})
}

// TestManyWakeFromSleep checks that an update after a long while wakes the waiter of many words, whether another PE
// or a goroutine of the same PE makes it.
func TestManyWakeFromSleep(t *testing.T) {
	howeverRealPEsWait(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int32](ctx, w, 100)
		if err != nil {
			return err
		}
		words := pgas.AtomicsOf(s.All())
		if w.PE() == 0 {
			time.Sleep(60 * time.Millisecond)
			words.At(99).Add(1, -7)
			return errors.Join(w.Quiet(ctx), w.Barrier(ctx))
		}
		done := make(chan error, 2)
		go func() {
			time.Sleep(30 * time.Millisecond)
			done <- panicOf(func() { words.At(3).Set(1, 9) })
		}()
		go func() {
			i, v, err := words.Range(0, 50).Until(pgas.GT, 0).WaitAny(ctx)
			if err == nil && (i != 3 || v != 9) {
				err = fmt.Errorf("woken by word %d with %d", i, v)
			}
			done <- err
		}()
		if i, v, err := words.Until(pgas.LT, 0).WaitAny(ctx); err != nil || i != 99 || v != -7 {
			return fmt.Errorf("woken by word %d with %d, %w", i, v, err)
		}
		return errors.Join(<-done, <-done, w.Barrier(ctx))
	})
}

// TestEmptyWaitSets: of nothing, all is true, nothing is found, and no wait waits.
func TestEmptyWaitSets(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 70)
		if err != nil {
			return err
		}
		none := slices.Repeat([]bool{true}, 70)
		for name, set := range map[string]*pgas.WaitSet[int64]{
			"no word":       pgas.AtomicsOf(s.Range(5, 5)).Until(pgas.EQ, 1),
			"no value":      pgas.AtomicsOf(s.Range(5, 5)).UntilEach(pgas.EQ, nil),
			"false, masked": pgas.AtomicsOf(s.All()).Until(pgas.EQ, 1).Except(none),
			"true, masked":  pgas.AtomicsOf(s.All()).Until(pgas.EQ, 0).Except(none),
		} {
			i, _, err := set.WaitAny(ctx)
			j, _ := set.TestAny()
			some, e := set.WaitSome(ctx, []int{7})
			if err := errors.Join(err, e, set.WaitAll(ctx), set.Err()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for i := range set.Arrivals(ctx) {
				return fmt.Errorf("%s: %d arrived", name, i)
			}
			if i != -1 || j != -1 || !slices.Equal(some, []int{7}) || len(set.TestSome(nil)) > 0 || !set.TestAll() {
				return fmt.Errorf("%s: %d %d %v %v %v", name, i, j, some, set.TestSome(nil), set.TestAll())
			}
		}
		return nil
	})
}

// TestWaitSetsEnd: waits end with their context, with an error that says what is missing.
func TestWaitSetsEnd(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int32](ctx, w, 5)
		if err != nil {
			return err
		}
		words := pgas.AtomicsOf(s.All())
		words.At(0).Set(w.PE(), -3)
		set := words.Until(pgas.LE, -3)
		for name, wait := range map[string]struct {
			run  func(ctx context.Context) error
			says string
		}{
			"all": {set.WaitAll, "each of 5 words to be"},
			"any": {func(ctx context.Context) error {
				i, _, err := words.Until(pgas.GT, 7).WaitAny(ctx)
				if i != -1 {
					return fmt.Errorf("word %d", i)
				}
				return err
			}, "to be > 7"},
			"some": {func(ctx context.Context) error {
				_, err := words.UntilEach(pgas.EQ, []int32{1, 1, 1, 1, 1}).WaitSome(ctx, nil)
				return err
			}, "to be == the value given for it"},
			"arrivals": {func(ctx context.Context) error {
				for i, v := range set.Arrivals(ctx) {
					if i != 0 || v != -3 {
						return fmt.Errorf("word %d came with %d", i, v)
					}
				}
				return set.Err()
			}, "to be <= -3 (4 have not been"},
		} {
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			err := wait.run(short)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), wait.says) {
				return fmt.Errorf("%s ended with %w", name, err)
			}
		}
		return w.Barrier(ctx)
	})
}

// TestManyWithDeadPeer checks that a wait for many words returns an error that names the PE that has died.
func TestManyWithDeadPeer(t *testing.T) {
	var got error
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 9)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			return errLeaveEarly
		}
		_, _, got = pgas.AtomicsOf(s.All()).Until(pgas.NE, 0).WaitAny(ctx)
		return got
	})
	if !errors.Is(err, errLeaveEarly) {
		t.Fatalf("the root cause is lost: %v", err)
	}
	var peer *pgas.PeerError
	if !errors.As(got, &peer) || peer.PE != 1 {
		t.Fatalf("the wait returned %v, not a *PeerError about PE 1", got)
	}
}

// TestWaitSetMisuse: each misuse panics with *UsageError that says what would be right.
func TestWaitSetMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int32](ctx, w, 4)
		if err != nil {
			return err
		}
		words := pgas.AtomicsOf(s.All())
		for says, misuse := range map[string]func(){
			"3 values for 4 words":  func() { words.UntilEach(pgas.EQ, make([]int32, 3)) },
			"5 elements for 4":      func() { words.Until(pgas.EQ, 0).Except(make([]bool, 5)) },
			"unknown comparison 6":  func() { words.Until(6, 0) },
			"unknown comparison 99": func() { words.UntilEach(99, make([]int32, 4)) },
			"4 is out of range":     func() { words.At(4) },
			"[2:5] is out":          func() { words.Range(2, 5) },
		} {
			var usage *pgas.UsageError
			if err := panicOf(misuse); !errors.As(err, &usage) || !strings.Contains(err.Error(), says) {
				return fmt.Errorf("the panic that says %q is %v", says, err)
			}
		}
		return nil
	})
}

// TestWaitSetsDoNotAllocate: a set that is kept waits without allocating.
func TestWaitSetsDoNotAllocate(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		words := pgas.AtomicsOf(s.All())
		set, indexes, sum := words.Until(pgas.EQ, 0), make([]int, 0, 100), 0
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"any", func() { _, _, err = set.WaitAny(ctx) }},
			{"some", func() { indexes, err = set.WaitSome(ctx, indexes[:0]) }},
			{"all", func() { err = set.WaitAll(ctx) }},
			{"test any", func() { set.TestAny() }},
			{"test some", func() { indexes = set.TestSome(indexes[:0]) }},
			{"test all", func() { set.TestAll() }},
			{"arrivals", func() {
				for i := range set.Arrivals(ctx) {
					sum += i
				}
			}},
		} {
			if n := testing.AllocsPerRun(100, op.run); n != 0 {
				t.Errorf("%s: %v allocations", op.name, n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// PE 0 adds partial sums in the order of their arrival.
func ExampleWaitSet_Arrivals() {
	total := int64(0)
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		sums, err := pgas.Alloc[int64](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		parts := pgas.AtomicsOf(sums.All())
		parts.At(w.PE()).Set(0, int64(10+w.PE()))
		if w.PE() == 0 {
			arrived := parts.Until(pgas.NE, 0)
			for _, part := range arrived.Arrivals(ctx) {
				total += part
			}
			if err := arrived.Err(); err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
	fmt.Println(total, err)
	// Output: 46 <nil>
}

// A server takes the requests of the other PEs in the order of their arrival.
func ExampleWaitSet_WaitAny() {
	served := 0
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		flags, err := pgas.Alloc[pgas.Signal](ctx, w, w.NPEs())
		if err != nil {
			return err
		}
		inbox := pgas.SignalsOf(flags.All())
		if w.PE() != 0 {
			inbox.At(w.PE()).Set(0, 1)
			return w.Barrier(ctx)
		}
		requests := inbox.Until(pgas.NE, 0)
		for range w.NPEs() - 1 {
			pe, _, err := requests.WaitAny(ctx)
			if err != nil {
				return err
			}
			inbox.At(pe).Set(0, 0)
			served++
		}
		return w.Barrier(ctx)
	})
	fmt.Println(served, err)
	// Output: 3 <nil>
}
