package sim_test

// The reduction against its naive twin: on random programs, both must come to the same outcomes.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

const twinRuns = 3000

var (
	twinSeed  = flag.Uint64("twin.seed", 1, "the first random program")
	twinCount = flag.Int("twin.count", 60, "how many random programs")
)

// An action is one operation of a random program.
type action struct {
	name string
	pe   int
	word int
	v    int64
}

func (d action) String() string { return fmt.Sprintf("%s(%d,%d,%d)", d.name, d.pe, d.word, d.v) }

// All PEs use words 0 to 2, word 3 is only ever a signal, and words 4 and 5 get what a PE fetches.
const (
	twinWords  = 6
	twinSignal = 3
	twinInto   = 4
)

// actions are by weight: those that others see come more often.
var actions = strings.Fields("add add swap swap cas cas set set put put two signal fence fence quiet get getnb addnb fetchown wait wait giveup test test poll poll local yield cpu lock")

// program returns random actions for npes PEs.
func program(rng *rand.Rand, npes int, actions []string) [][]action {
	p := make([][]action, npes)
	for i := range p {
		for range 1 + rng.IntN(5-npes) {
			p[i] = append(p[i], action{actions[rng.IntN(len(actions))], rng.IntN(npes), rng.IntN(3), 1 + rng.Int64N(2)})
		}
	}
	return p
}

// do does one action of a PE, and notes the values it reads.
func (d action) do(ctx context.Context, w *pgas.World, words pgas.Sym[int64], cpu *pgas.Context, lock pgas.LockRef, note func(...int64)) error {
	word, short := pgas.AtomicOf(words, d.word), time.Second
	switch d.name {
	case "add":
		note(word.FetchAdd(d.pe, d.v))
	case "swap":
		note(word.Swap(d.pe, d.v))
	case "cas":
		note(word.CompareSwap(d.pe, d.v-1, d.v))
	case "set":
		word.Set(d.pe, d.v)
	case "put":
		words.At(d.word).Put(d.pe, d.v)
	case "two":
		words.Range(0, 2).Put(d.pe, []int64{d.v, d.v})
	case "signal":
		words.Range(d.word, d.word+1).PutSignal(d.pe, []int64{d.v}, pgas.FieldSignal(words.At(0), 8*twinSignal), 1)
	case "fence":
		w.Fence()
	case "quiet":
		return w.Quiet(ctx)
	case "get":
		var v [3]int64
		words.Range(0, 3).Get(d.pe, v[:])
		note(v[:]...)
	case "getnb":
		var v [2]int64
		words.Range(0, 2).GetNB(d.pe, v[:])
		err := w.Quiet(ctx)
		note(v[:]...)
		return err
	case "addnb":
		var v int64
		word.FetchAddNB(d.pe, d.v, &v)
		err := w.Quiet(ctx)
		note(v)
		return err
	case "fetchown":
		sim.Shares(ctx)
		words.Range(d.word, d.word+1).Get(d.pe, words.Local()[twinInto:twinInto+1])
	case "wait":
		v, err := word.WaitUntil(ctx, pgas.GE, 1)
		note(v)
		return err
	case "giveup":
		soon, cancel := w.WithTimeout(ctx, short)
		defer cancel()
		v, err := pgas.AtomicOf(words, twinSignal).WaitUntil(soon, pgas.GE, 1)
		if errors.Is(err, context.DeadlineExceeded) {
			v, err = -1, nil
		}
		note(v)
		return err
	case "test":
		if word.Test(pgas.EQ, d.v) {
			note(1)
		} else {
			note(0)
		}
	case "poll":
		for word.Fetch(d.pe) < d.v {
			w.Yield()
		}
		note(d.v)
	case "local":
		sim.Shares(ctx)
		mine := words.Local()
		note(mine[d.word])
		mine[twinInto+1] = mine[d.word]
	case "yield":
		w.Yield()
	case "cpu":
		note(word.On(cpu).FetchAdd(w.PE(), d.v))
	case "lock":
		if err := lock.Lock(ctx); err != nil {
			return err
		}
		note(words.At(twinSignal + 1).Get(0))
		words.At(twinSignal+1).Put(0, int64(w.PE()+1))
		return lock.Unlock()
	}
	return nil
}

// ends explores the program and returns how it may end: what every PE has seen, and what is in memory; or
// what is wrong. It is nil if that takes more than twinRuns schedules.
func ends(t *testing.T, cfg sim.Config, program [][]action) (map[string]bool, sim.Exploration) {
	npes, runs := len(program), 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := map[string]bool{}
	notes := make([][]int64, npes)
	heaps := make([][]int64, npes)
	over := 0
	e, err := sim.Explore(ctx, cfg, npes, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, twinWords)
		if err != nil {
			return err
		}
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		cpu, err := w.NewContext(pgas.ByCPU())
		if err != nil {
			return err
		}
		me := w.PE()
		if runs++; runs > npes*twinRuns {
			cancel()
		}
		over, notes[me], heaps[me] = 0, nil, words.Local()
		sim.Start(ctx)
		for _, d := range program[me] {
			if err := d.do(ctx, w, words, cpu, pgas.LockOf(locks, 0), func(v ...int64) { notes[me] = append(notes[me], v...) }); err != nil {
				return err
			}
		}
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		sim.Shares(ctx)
		if over++; over == npes {
			seen[fmt.Sprint(notes, heaps)] = true
		}
		return nil
	})
	if err == nil {
		return seen, e
	}
	if ctx.Err() != nil {
		return nil, e
	}
	var f *sim.Failure
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if why := f.Err.Error(); !strings.HasPrefix(why, "deadlock") && !strings.HasPrefix(why, "livelock") {
		t.Fatal(err)
	}
	return map[string]bool{"no end": true}, e // which of them is found first depends on the order
}

// TestReductionTwin explores random programs in every order, and in those that the reduction leaves.
func TestReductionTwin(t *testing.T) {
	var all, fewer, skipped int
	programs := uint64(*twinCount)
	if testing.Short() {
		programs = max(1, programs/5)
	}
	for seed := *twinSeed; seed < *twinSeed+programs; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		some := actions
		if rng.IntN(3) > 0 { // few kinds race more
			some = nil
			for range 1 + rng.IntN(4) {
				some = append(some, actions[rng.IntN(len(actions))])
			}
		}
		p := program(rng, 2+rng.IntN(2), some)
		cfg := sim.Config{Atomics: sim.Atomics(rng.IntN(2))}
		want, e := ends(t, cfg, p)
		if want == nil {
			skipped++
			continue
		}
		cfg.Reduce = true
		got, f := ends(t, cfg, p)
		all, fewer = all+e.States, fewer+f.States
		if !maps.Equal(got, want) {
			for end := range maps.Keys(want) {
				if !got[end] {
					t.Errorf("not found: %s", end)
				}
			}
			for end := range maps.Keys(got) {
				if !want[end] {
					t.Errorf("cannot be: %s", end)
				}
			}
			t.Fatalf("go test ./pgas/sim -run ReductionTwin -twin.seed %d -twin.count 1 repeats it: atomics %d\n%v\nof %d outcomes %d were found", seed, cfg.Atomics, lines(p), len(want), len(got))
		}
	}
	t.Logf("%d states, %d with the reduction; %d programs have too many", all, fewer, skipped)
	if skipped > *twinCount/2 {
		t.Errorf("%d of %d programs have too many orders", skipped, *twinCount)
	}
}

func lines(p [][]action) string {
	var s []string
	for i, d := range p {
		s = append(s, fmt.Sprintf("PE %d: %v", i, d))
	}
	return strings.Join(slices.Clip(s), "\n")
}
