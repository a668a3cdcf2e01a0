package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// An operation is a reduction or scan, with the loop that says what it should give.
type operation struct {
	name string
	run  func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) error
	want func(all [][]int64, pe, i int) int64
	scan bool
}

// fold combines element i of the first n members.
func fold(all [][]int64, n, i int, f func(a, b int64) int64) int64 {
	v := all[0][i]
	for pe := 1; pe < n; pe++ {
		v = f(v, all[pe][i])
	}
	return v
}

func reduction(name string, run func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) error, f func(a, b int64) int64) operation {
	return operation{name, run, func(all [][]int64, _, i int) int64 { return fold(all, len(all), i, f) }, false}
}

// affine composes a*x+b, a in the high half and b in the low: associative, but not commutative.
func affine(p, q int64) int64 {
	a, b, c, d := p>>32, int64(int32(p)), q>>32, int64(int32(q))
	return a*c<<32 | int64(uint32(b*c+d))
}

func operations() []operation {
	sum := func(a, b int64) int64 { return a + b }
	return []operation{
		reduction("sum", pgas.SumReduce[int64], sum),
		reduction("prod", pgas.ProdReduce[int64], func(a, b int64) int64 { return a * b }),
		reduction("and", pgas.AndReduce[int64], func(a, b int64) int64 { return a & b }),
		reduction("or", pgas.OrReduce[int64], func(a, b int64) int64 { return a | b }),
		reduction("xor", pgas.XorReduce[int64], func(a, b int64) int64 { return a ^ b }),
		reduction("min", pgas.MinReduce[int64], func(a, b int64) int64 { return min(a, b) }),
		reduction("max", pgas.MaxReduce[int64], func(a, b int64) int64 { return max(a, b) }),
		reduction("func", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) error {
			return pgas.FuncReduce(ctx, t, dst, src, sum, opts...)
		}, sum),
		{"inscan", pgas.SumInscan[int64], func(all [][]int64, pe, i int) int64 { return fold(all, pe+1, i, sum) }, true},
		{"exscan", pgas.SumExscan[int64], func(all [][]int64, pe, i int) int64 {
			if pe == 0 {
				return 0
			}
			return fold(all, pe, i, sum)
		}, true},
		{"func inscan", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) error {
			return pgas.FuncInscan(ctx, t, dst, src, affine, opts...)
		}, func(all [][]int64, pe, i int) int64 { return fold(all, pe+1, i, affine) }, true},
		{"func exscan", func(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], opts ...pgas.CollectiveOption) error {
			return pgas.FuncExscan(ctx, t, dst, src, affine, opts...)
		}, func(all [][]int64, pe, i int) int64 {
			if pe == 0 {
				return 0
			}
			return fold(all, pe, i, affine)
		}, true},
	}
}

const mostElements = 40_000

// sourcesFor is what all members have, computed alike by each.
func sourcesFor(seed uint64, npes, n int) [][]int64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := make([][]int64, npes)
	for pe := range all {
		for range n {
			all[pe] = append(all[pe], rng.Int64()-1<<62)
		}
	}
	return all
}

// tryOperations runs every operation on t with the given options and sizes, out of place and in place.
func tryOperations(ctx context.Context, t *pgas.Team, mem pgas.Sym[int64], sizes []int, seed uint64, opts ...pgas.CollectiveOption) error {
	for _, n := range sizes {
		for k, op := range operations() {
			if op.scan && len(opts) > 0 && !slices.Contains([]int{0, 2}, len(opts)) {
				continue
			}
			seed++
			all := sourcesFor(seed, t.NPEs(), n)
			src, dst := mem.Range(0, n), mem.Range(mostElements, mostElements+n)
			if k%2 == 1 {
				dst = src
			}
			copy(src.Local(), all[t.PE()])
			var err error
			if op.scan {
				err = op.run(ctx, t, dst, src)
			} else {
				err = op.run(ctx, t, dst, src, opts...)
			}
			if err != nil {
				return fmt.Errorf("%s of %d: %w", op.name, n, err)
			}
			for i, got := range dst.Local() {
				if want := op.want(all, t.PE(), i); got != want {
					return fmt.Errorf("%s of %d on PE %d of %d, seed %d: element %d is %d, want %d", op.name, n, t.PE(), t.NPEs(), seed, i, got, want)
				}
			}
		}
	}
	return nil
}

// waysOf are the options that reductions are tried with.
var waysOf = []struct {
	name string
	opts []pgas.CollectiveOption
}{
	{"auto", nil},
	{"flat", []pgas.CollectiveOption{pgas.NoHierarchy()}},
	{"in order", []pgas.CollectiveOption{pgas.Reproducible()}},
	{"linear", []pgas.CollectiveOption{pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.Linear)}},
	{"ring", []pgas.CollectiveOption{pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.Ring)}},
	{"hosts linear", []pgas.CollectiveOption{pgas.WithAlgorithm(pgas.Linear)}},
	{"hosts ring", []pgas.CollectiveOption{pgas.WithAlgorithm(pgas.Ring)}},
}

func reductionsOn(npes int, sizes []int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2*mostElements)
		if err != nil {
			return err
		}
		for i, way := range waysOf {
			if err := tryOperations(ctx, w.Team(), mem, sizes, uint64(1000*i), way.opts...); err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
		}
		doubling := []pgas.CollectiveOption{pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.RecursiveDoubling)}
		if err := tryOperations(ctx, w.Team(), mem, []int{1, 7, 120}, 1, doubling...); err != nil {
			return fmt.Errorf("doubling: %w", err)
		}
		return nil
	}
}

func TestReductions(t *testing.T) {
	for npes := 1; npes <= 17; npes++ {
		if testing.Short() && npes != 3 && npes != 8 {
			continue
		}
		t.Run(fmt.Sprint(npes), func(t *testing.T) {
			pgastest.RunGoroutines(t, npes, reductionsOn(npes, []int{1, 5, 124, 125, 1300}))
		})
	}
	for _, npes := range []int{2, 5} {
		if testing.Short() && npes != 2 {
			continue
		}
		t.Run(fmt.Sprint("everywhere", npes), func(t *testing.T) {
			pgastest.RunAll(t, npes, reductionsOn(npes, []int{0, 1, 125, 3000}))
		})
		t.Run(fmt.Sprint("large", npes), func(t *testing.T) { // too many events for each of the simulator's schedules
			body := reductionsOn(npes, []int{mostElements})
			pgastest.RunGoroutines(t, npes, body)
			pgastest.RunProcesses(t, npes, body)
			pgastest.RunHosts(t, npes, 2, body)
		})
	}
	t.Run("four hosts", func(t *testing.T) {
		pgastest.RunHosts(t, 7, 4, reductionsOn(7, []int{1, 50, 1100, 9000}))
	})
}

// TestReductionsOfSplitTeams checks teams whose order is not that of the hosts, one after another and nested.
func TestReductionsOfSplitTeams(t *testing.T) {
	pgastest.RunAll(t, 6, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2*mostElements)
		if err != nil {
			return err
		}
		shuffled, err := w.Team().SplitList(ctx, []int{4, 0, 5, 2, 3})
		if err != nil {
			return err
		}
		odd, err := w.Team().SplitColor(ctx, w.PE()%2, -w.PE())
		if err != nil {
			return err
		}
		for i := range 5 {
			for _, team := range []*pgas.Team{shuffled, odd, w.Team()} {
				if team == nil {
					continue
				}
				if err := tryOperations(ctx, team, mem, []int{1, 200}, uint64(100*i)); err != nil {
					return fmt.Errorf("team of %v: %w", members(team), err)
				}
			}
		}
		return nil
	})
}

// TestReproducibleSum: the order of the team decides the bits, not the algorithm nor the hosts.
func TestReproducibleSum(t *testing.T) {
	pgastest.RunAll(t, 6, func(ctx context.Context, w *pgas.World) error {
		const n = 2000
		mem, err := pgas.Alloc[float64](ctx, w, 2*n)
		if err != nil {
			return err
		}
		team, err := w.Team().SplitList(ctx, []int{3, 1, 5, 0, 4, 2})
		if err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(7, 7))
		want := make([]float64, n)
		for pe := range 6 {
			for i := range n {
				v := (rng.Float64() - 0.5) * float64(int64(1)<<rng.IntN(60))
				if want[i] += v; pe == 0 {
					want[i] = v
				}
				if pe == team.PE() {
					mem.Local()[i] = v
				}
			}
		}
		for _, opts := range [][]pgas.CollectiveOption{{pgas.Reproducible()}, {pgas.Reproducible(), pgas.NoHierarchy()}} {
			if err := pgas.SumReduce(ctx, team, mem.Range(n, 2*n), mem.Range(0, n), opts...); err != nil {
				return err
			}
			if got := mem.Local()[n:]; !slices.Equal(got, want) {
				return fmt.Errorf("PE %d: the sum is not that of the loop", w.PE())
			}
		}
		return nil
	})
}

// TestReductionMismatch: different lengths are an error on all members, not a wrong sum.
func TestReductionMismatch(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 20)
		if err != nil {
			return err
		}
		team, err := w.Team().SplitStrided(ctx, 0, 1, 3)
		if err != nil {
			return err
		}
		n := 4 + w.PE()%2
		err = pgas.SumReduce(ctx, team, mem.Range(10, 10+n), mem.Range(0, n))
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) || len(mismatch.Calls) != 2 {
			return fmt.Errorf("PE %d got %v", w.PE(), err)
		}
		team, err = w.Team().SplitStrided(ctx, 0, 1, 3)
		if err != nil {
			return err
		}
		err = pgas.SumReduce(ctx, team, mem.Range(10, 12), mem.Range(w.PE()/2, w.PE()/2+2))
		if !errors.As(err, &mismatch) || len(mismatch.Calls) != 2 || !strings.Contains(mismatch.Calls[0], "PE 0,1: sum reduction of 2 × 8 bytes (int64) (to offset") {
			return fmt.Errorf("PE %d got %v", w.PE(), err)
		}
		return nil
	})
}

// TestNonBlockingReductions: several under way, waited for in another order, and a blocking one between.
func TestNonBlockingReductions(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		const calls, n = 20, 300
		mem, err := pgas.Alloc[int64](ctx, w, calls*n)
		if err != nil {
			return err
		}
		for i := range mem.Local() {
			mem.Local()[i] = int64(i * (w.PE() + 1))
		}
		var requests []*pgas.Request
		for c := range calls {
			s := mem.Range(c*n, (c+1)*n)
			if c%7 == 3 {
				if err := pgas.SumReduce(ctx, w.Team(), s, s); err != nil {
					return err
				}
				continue
			}
			requests = append(requests, pgas.SumReduceNB(ctx, w.Team(), s, s))
		}
		for _, r := range slices.Backward(requests) {
			if err := r.Wait(ctx); err != nil {
				return err
			}
			if done, err := r.Test(); !done || err != nil {
				return fmt.Errorf("after Wait, Test says %v, %v", done, err)
			}
		}
		for i, v := range mem.Local() {
			if want := int64(i * 10); v != want {
				return fmt.Errorf("PE %d: element %d is %d, want %d", w.PE(), i, v, want)
			}
		}
		return nil
	})
}

// TestCloseCompletesRequests: a job may end while non-blocking collectives are under way on any team.
func TestCloseCompletesRequests(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 3000)
		if err != nil {
			return err
		}
		rows, columns, err := w.Team().Split2D(ctx, 2)
		if err != nil {
			return err
		}
		_ = pgas.SumReduceNB(ctx, rows, mem.Range(0, 1000), mem.Range(0, 1000))
		_ = pgas.MaxReduceNB(ctx, columns, mem.Range(1000, 2000), mem.Range(1000, 2000))
		_ = pgas.XorReduceNB(ctx, w.Team(), mem.Range(2000, 3000), mem.Range(2000, 3000))
		return nil
	})
}

// TestLandingPlacesRunOut checks that more teams than there are staging areas can reduce large data between hosts,
// and that the areas of destroyed teams are used again.
func TestLandingPlacesRunOut(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2*mostElements)
		if err != nil {
			return err
		}
		for round := range 3 {
			var teams []*pgas.Team
			for i := range 8 {
				team, err := w.Team().SplitList(ctx, []int{i % 3, (i + 1) % 3, (i + 2) % 3})
				if err != nil {
					return err
				}
				teams = append(teams, team)
				for range 2 {
					if err := tryOperations(ctx, team, mem, []int{1200}, uint64(100*round+i), pgas.NoHierarchy()); err != nil {
						return fmt.Errorf("round %d, team %d: %w", round, i, err)
					}
				}
			}
			for _, team := range teams {
				if err := team.Destroy(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
