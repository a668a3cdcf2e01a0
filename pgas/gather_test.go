package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// slicesFor are n(pe) numbers for each of npes members, which follow from the seed.
func slicesFor(npes, seed int, n func(pe int) int) [][]uint32 {
	all := make([][]uint32, npes)
	for pe := range all {
		all[pe] = make([]uint32, n(pe))
		for i := range all[pe] {
			all[pe][i] = uint32(seed*1_000_003+pe*7919+i) * 2654435761
		}
	}
	return all
}

// sameSlices compares what a gather has returned.
func sameSlices(what string, got, want [][]uint32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d slices, want %d", what, len(got), len(want))
	}
	for pe := range want {
		if !slices.Equal(got[pe], want[pe]) {
			return fmt.Errorf("%s: %d elements of member %d, want %d, or some differ", what, len(got[pe]), pe, len(want[pe]))
		}
	}
	return nil
}

// lengths are how many numbers a member gives: none, the same, what fits a record to the byte, pieces to the byte, and
// more on one member than on the others. A record holds 228 numbers, and a piece 4,096.
var lengths = map[string]func(pe int) int{
	"none":              func(int) int { return 0 },
	"one":               func(int) int { return 1 },
	"different":         func(pe int) int { return pe * 5 },
	"a record":          func(pe int) int { return 228 - pe },
	"more than it":      func(pe int) int { return 229 + pe },
	"a piece":           func(pe int) int { return 228 + 4096 - pe },
	"more than a piece": func(pe int) int { return 228 + 4096 + pe },
	"one is long":       func(pe int) int { return max(0, pe-1) * 30_000 },
}

// tryGathers gathers to one member, to all, and back from it, on t.
func tryGathers(ctx context.Context, t *pgas.Team) error {
	names := make([]string, 0, len(lengths))
	for name := range lengths {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed, name := range names {
		want := slicesFor(t.NPEs(), seed, lengths[name])
		root := seed % t.NPEs()
		mine := slices.Clone(want[t.PE()])
		all, err1 := pgas.AllGather(ctx, t, mine)
		some, err2 := pgas.Gather(ctx, t, mine, root)
		clear(mine) // it may be reused
		var give []uint32
		if t.PE() == root {
			give = want[t.NPEs()-1]
		}
		back, err3 := pgas.BroadcastSlice(ctx, t, give, root)
		sum, err4 := pgas.BroadcastValue(ctx, t, [2]int{t.PE(), seed}, root)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if t.PE() != root {
			if some != nil {
				return fmt.Errorf("%s: PE %d is not the root and has got %d slices", name, t.PE(), len(some))
			}
			some = want
		}
		if sum != [2]int{root, seed} || !slices.Equal(back, want[t.NPEs()-1]) {
			return fmt.Errorf("%s: PE %d has %v and %d numbers from PE %d, want %d", name, t.PE(), sum, len(back), root, len(want[t.NPEs()-1]))
		}
		if err := errors.Join(sameSlices(name+" to all", all, want), sameSlices(name+" to one", some, want)); err != nil {
			return err
		}
	}
	return nil
}

// TestGather: all lengths, on the team of the job and on a part of it.
func TestGather(t *testing.T) {
	for _, npes := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
			pgastest.RunAll(t, npes, func(ctx context.Context, w *pgas.World) error {
				if err := tryGathers(ctx, w.Team()); err != nil {
					return err
				}
				odd, err := w.Team().SplitStrided(ctx, npes-1, -2, (npes+1)/2)
				if err != nil || odd == nil {
					return err
				}
				return errors.Join(tryGathers(ctx, odd), odd.Destroy(ctx))
			})
		})
	}
}

// TestGatherLate: what no fence orders arrives late.
func TestGatherLate(t *testing.T) {
	pgastest.RunLateSeeds(t, 4, 2, 2, func(ctx context.Context, w *pgas.World) error { return tryGathers(ctx, w.Team()) })
}

// TestGatherHosts: hosts with different numbers of PEs, and so many that these share the first records, too.
func TestGatherHosts(t *testing.T) {
	gathers := func(ctx context.Context, w *pgas.World) error { return tryGathers(ctx, w.Team()) }
	pgastest.RunHosts(t, 10, 3, gathers)
	pgastest.RunLate(t, 10, 3, gathers)
}

// TestGatherOfNothing: elements without bytes are counted.
func TestGatherOfNothing(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		all, err := pgas.AllGather(ctx, w.Team(), make([]struct{}, w.PE()))
		if err != nil {
			return err
		}
		for pe := range w.NPEs() {
			if len(all[pe]) != pe {
				return fmt.Errorf("%d elements of PE %d", len(all[pe]), pe)
			}
		}
		same, err := pgas.BroadcastSlice(ctx, w.Team(), make([]struct{}, 3*w.PE()), 2)
		if err == nil && len(same) != 6 {
			err = fmt.Errorf("%d elements, want 6", len(same))
		}
		return err
	})
}

// TestGatherMismatch: another root, another element, and another collective are found, and named.
func TestGatherMismatch(t *testing.T) {
	for _, test := range []struct {
		name, want string
		call       func(ctx context.Context, w *pgas.World) error
	}{
		{"root", "gather to PE 1 of elements of 4 bytes", func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.Gather(ctx, w.Team(), []int32{1}, 1)
			return err
		}},
		{"size", "gather to PE 0 of elements of 8 bytes", func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.Gather(ctx, w.Team(), []int64{1}, 0)
			return err
		}},
		{"to all", "allgather of elements of 4 bytes", func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.AllGather(ctx, w.Team(), []int32{1})
			return err
		}},
		{"value", "sum reduction of a value of 1 × 4 bytes", func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.SumValue(ctx, w.Team(), int32(1))
			return err
		}},
		{"barrier", "PE 1: barrier", func(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				if w.PE() == 1 {
					return test.call(ctx, w)
				}
				_, err := pgas.Gather(ctx, w.Team(), []int32{1}, 0) //pgasvet:ok tests the mismatch
				return err
			})
			if _, ok := errors.AsType[*pgas.MismatchError](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want a MismatchError with %q", err, test.want)
			}
		})
	}
}

// TestGatherMisuse: types with pointers, members that are not there, no team.
func TestGatherMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		for name, call := range map[string]func(){
			"a string":                   func() { pgas.Gather(ctx, w.Team(), []string{"a"}, 0) },
			"a string to all":            func() { pgas.AllGather(ctx, w.Team(), []string{"a"}) },
			"a pointer":                  func() { pgas.BroadcastValue(ctx, w.Team(), new(int), 0) },
			"a slice of slices":          func() { pgas.BroadcastSlice(ctx, w.Team(), [][]int{}, 0) },
			"root 1":                     func() { pgas.Gather(ctx, w.Team(), []int{}, 1) },
			"root -1":                    func() { pgas.BroadcastValue(ctx, w.Team(), 0, -1) },
			"root 1 of a slice":          func() { pgas.BroadcastSlice(ctx, w.Team(), []int{}, 1) },
			"no team":                    func() { pgas.AllGather(ctx, nil, []int{1}) },
			"a zero team":                func() { pgas.Gather(ctx, new(pgas.Team), []int{1}, 0) },
			"a zero team of a broadcast": func() { pgas.BroadcastValue(ctx, new(pgas.Team), 1, 0) },
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s: no *UsageError", name)
			}
		}
		return nil
	})
}
