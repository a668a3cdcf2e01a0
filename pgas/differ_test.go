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

// differing is a collective and an argument of it that a member gives otherwise than the others.
type differing struct {
	name string
	call func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error
	want [2]string // in the error, of the others and of the odd member
}

// operands is symmetric memory for the calls.
type operands struct {
	dst, src pgas.Slice[int64]
	floats   [2]pgas.Slice[float64]
	points   [2]pgas.Slice[point]
	vectors  [2]pgas.Slice[vector2]
}

type point struct{ X, Y float64 }

type vector2 struct{ A, B float64 }

func newOperands(ctx context.Context, w *pgas.World) (m *operands, err error) {
	const n = 1 << 14
	ints, err := pgas.Alloc[int64](ctx, w, 2*n)
	if err != nil {
		return nil, err
	}
	floats, err := pgas.Alloc[float64](ctx, w, 2*n)
	if err != nil {
		return nil, err
	}
	points, err := pgas.Alloc[point](ctx, w, 2*n)
	if err != nil {
		return nil, err
	}
	vectors, err := pgas.Alloc[vector2](ctx, w, 2*n)
	if err != nil {
		return nil, err
	}
	return &operands{
		dst: ints.Range(0, n), src: ints.Range(n, 2*n),
		floats:  [2]pgas.Slice[float64]{floats.Range(0, n), floats.Range(n, 2*n)},
		points:  [2]pgas.Slice[point]{points.Range(0, n), points.Range(n, 2*n)},
		vectors: [2]pgas.Slice[vector2]{vectors.Range(0, n), vectors.Range(n, 2*n)},
	}, nil
}

// pick is what a member gives: a, or b if it is the odd one.
func pick[T any](odd bool, a, b T) T {
	if odd {
		return b
	}
	return a
}

// movesOf are the collectives that move n elements of each member.
func movesOf(n int) []differing {
	elements := fmt.Sprintf("%d × ", n)
	type ints = pgas.Slice[int64]
	var all []differing
	for _, c := range []struct {
		name string
		call func(ctx context.Context, t *pgas.Team, dst, src ints, o ...pgas.CollectiveOption) error
	}{
		{"broadcast", func(ctx context.Context, t *pgas.Team, dst, src ints, o ...pgas.CollectiveOption) error {
			return pgas.Broadcast(ctx, t, dst, src, 1, o...)
		}},
		{"fcollect", pgas.FCollect[int64]},
		{"sum reduction", pgas.SumReduce[int64]},
		{"inclusive scan", pgas.SumInscan[int64]},
		{"exclusive scan", pgas.SumExscan[int64]},
	} {
		name, call := c.name, c.call
		room := func(m *operands, n int) ints {
			return m.dst.Range(0, pick(strings.HasPrefix(name, "fcollect"), n, 3*n))
		}
		all = append(all,
			differing{name + ": count", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				n := pick(odd, n, n+1)
				return call(ctx, t, room(m, n), m.src.Range(0, n))
			}, [2]string{elements, fmt.Sprintf("%d × ", n+1)}},
			differing{name + ": no elements", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				n := pick(odd, n, 0)
				return call(ctx, t, room(m, n), m.src.Range(0, n))
			}, [2]string{elements, "0 × 8 bytes (int64)"}},
			differing{name + ": range of src", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				return call(ctx, t, room(m, n), m.src.Range(pick(odd, 0, 8), n+pick(odd, 0, 8)))
			}, [2]string{"to offset", "to offset"}},
			differing{name + ": range of dst", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				return call(ctx, t, m.dst.Range(pick(odd, 0, 8), 3*n+pick(odd, 0, 8)).Range(0, room(m, n).Len()), m.src.Range(0, n))
			}, [2]string{"to offset", "to offset"}},
			differing{name + ": hierarchy", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				return call(ctx, t, room(m, n), m.src.Range(0, n), pick(odd, nil, []pgas.CollectiveOption{pgas.NoHierarchy()})...)
			}, [2]string{name, "flat"}},
			differing{name + ": in order", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				return call(ctx, t, room(m, n), m.src.Range(0, n), pick(odd, nil, []pgas.CollectiveOption{pgas.Reproducible()})...)
			}, [2]string{name, "in the order of the team"}},
			differing{name + ": except the root", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
				return call(ctx, t, room(m, n), m.src.Range(0, n), pick(odd, nil, []pgas.CollectiveOption{pgas.ExceptRoot()})...)
			}, [2]string{name, "except the root"}},
		)
		if strings.HasSuffix(name, "scan") {
			continue
		}
		all = append(all, differing{name + ": algorithm", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return call(ctx, t, room(m, n), m.src.Range(0, n), pick(odd, nil, []pgas.CollectiveOption{pgas.WithAlgorithm(pgas.Linear)})...)
		}, [2]string{name, "by linear"}})
	}
	all = append(all,
		differing{"broadcast: type of a struct", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			if odd {
				return pgas.Broadcast(ctx, t, m.vectors[0].Range(0, n), m.vectors[1].Range(0, n), 0)
			}
			return pgas.Broadcast(ctx, t, m.points[0].Range(0, n), m.points[1].Range(0, n), 0)
		}, [2]string{"(pgas_test.point)", "(pgas_test.vector2)"}},
		differing{"fcollect: type of a struct", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			if odd {
				return pgas.FCollect(ctx, t, m.vectors[0], m.vectors[1].Range(0, n))
			}
			return pgas.FCollect(ctx, t, m.points[0], m.points[1].Range(0, n))
		}, [2]string{"(pgas_test.point)", "(pgas_test.vector2)"}},
		differing{"broadcast: root", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return pgas.Broadcast(ctx, t, m.dst.Range(0, n), m.src.Range(0, n), pick(odd, 0, t.NPEs()-1))
		}, [2]string{"broadcast from PE 0 of " + elements, "broadcast from PE "}},
		differing{"reduction: operator", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return pick(odd, pgas.MinReduce[int64], pgas.MaxReduce[int64])(ctx, t, m.dst.Range(0, n), m.src.Range(0, n))
		}, [2]string{"min reduction", "max reduction"}},
		differing{"reduction: type", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			if odd {
				return pgas.SumReduce(ctx, t, m.floats[0].Range(0, n), m.floats[1].Range(0, n))
			}
			return pgas.SumReduce(ctx, t, m.dst.Range(0, n), m.src.Range(0, n))
		}, [2]string{"(int64)", "(float64)"}},
	)
	return append(all, exchangesOf(n)...)
}

// exchangesOf are the all-to-alls of blocks of n elements, and the collects.
func exchangesOf(n int) []differing {
	blocks := func(t *pgas.Team, n int) pgas.Blocks {
		b := pgas.Blocks{Displs: make([]int, t.NPEs()), Counts: make([]int, t.NPEs())}
		for i := range b.Displs {
			b.Displs[i], b.Counts[i] = i*n, n
		}
		return b
	}
	return []differing{
		{"alltoall: count", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			n := pick(odd, n, n+1) * t.NPEs()
			return pgas.AllToAll(ctx, t, m.dst, m.src.Range(0, n))
		}, [2]string{fmt.Sprintf("alltoall of %d × ", n), fmt.Sprintf("alltoall of %d × ", n+1)}},
		{"alltoall: no elements", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return pgas.AllToAll(ctx, t, m.dst, m.src.Range(0, pick(odd, n, 0)*t.NPEs()))
		}, [2]string{fmt.Sprintf("alltoall of %d × ", n), "alltoall of 0 × "}},
		{"alltoall: algorithm", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			o := pgas.WithAlgorithm(pick(odd, pgas.Linear, pgas.Ring))
			return pgas.AllToAll(ctx, t, m.dst, m.src.Range(0, n*t.NPEs()), o)
		}, [2]string{"by linear", "by ring"}},
		{"alltoalls: stride of dst", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return pgas.AllToAllS(ctx, t, m.dst, m.src, pick(odd, 2, 3), 1, n)
		}, [2]string{"strides 2 and 1", "strides 3 and 1"}},
		{"alltoalls: stride of src", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			return pgas.AllToAllS(ctx, t, m.dst, m.src, 1, pick(odd, 2, 3), n)
		}, [2]string{"strides 1 and 2", "strides 1 and 3"}},
		{"alltoallv: type", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			b := blocks(t, n)
			if odd {
				return pgas.AllToAllV(ctx, t, m.floats[0], b, m.floats[1], b)
			}
			return pgas.AllToAllV(ctx, t, m.dst, b, m.src, b)
		}, [2]string{"8 bytes (int64)", "8 bytes (float64)"}},
		{"alltoallv: length of a block", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			from := blocks(t, n)
			from.Counts[0] -= pick(odd, 0, 1)
			return pgas.AllToAllV(ctx, t, m.dst, blocks(t, n), m.src, from)
		}, [2]string{fmt.Sprintf("expects %d", n), fmt.Sprintf("sends %d", n-1)}},
		{"collect: type", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			var err error
			if odd {
				_, err = pgas.Collect(ctx, t, m.floats[0], m.floats[1].Range(0, n))
			} else {
				_, err = pgas.Collect(ctx, t, m.dst, m.src.Range(0, n))
			}
			return err
		}, [2]string{"(int64)", "(float64)"}},
		{"collect: range of dst", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			_, err := pgas.Collect(ctx, t, m.dst.Range(pick(odd, 0, 8), m.dst.Len()), m.src.Range(0, n))
			return err
		}, [2]string{"to offset", "to offset"}},
		{"collect: hierarchy", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
			_, err := pgas.Collect(ctx, t, m.dst, m.src.Range(0, n), pick(odd, nil, []pgas.CollectiveOption{pgas.NoHierarchy()})...)
			return err
		}, [2]string{"collect of elements of 8 bytes", "collect flat of elements of 8 bytes"}},
	}
}

// ofValues are the collectives that need no symmetric memory.
var ofValues = []differing{
	{"BroadcastValue: root", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := pgas.BroadcastValue(ctx, t, 7, pick(odd, 0, t.NPEs()-1))
		return err
	}, [2]string{"broadcast of a value from PE 0", "broadcast of a value from PE "}},
	{"BroadcastValue: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.BroadcastValue(ctx, t, vector2{}, 0)
		} else {
			_, err = pgas.BroadcastValue(ctx, t, point{}, 0)
		}
		return err
	}, [2]string{"(pgas_test.point)", "(pgas_test.vector2)"}},
	{"BroadcastValue of nothing: root", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := pgas.BroadcastValue(ctx, t, struct{}{}, pick(odd, 0, 1))
		return err
	}, [2]string{"from PE 0", "from PE 1"}},
	{"BroadcastSlice: root", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := pgas.BroadcastSlice(ctx, t, make([]int64, 300), pick(odd, 0, t.NPEs()-1))
		return err
	}, [2]string{"slice from PE 0", "slice from PE "}},
	{"BroadcastSlice: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.BroadcastSlice(ctx, t, []float64{1}, 0)
		} else {
			_, err = pgas.BroadcastSlice(ctx, t, []int64{1}, 0)
		}
		return err
	}, [2]string{"(int64)", "(float64)"}},
	{"BroadcastSlice and BroadcastValue", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.BroadcastSlice(ctx, t, make([][116]int64, 1), 0)
		} else {
			_, err = pgas.BroadcastValue(ctx, t, [116]int64{}, 0)
		}
		return err
	}, [2]string{"broadcast of a value from", "broadcast of a value slice from"}},
	{"Gather: root", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := pgas.Gather(ctx, t, []int64{1}, pick(odd, 0, 1))
		return err
	}, [2]string{"gather to PE 0", "gather to PE 1"}},
	{"Gather: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.Gather(ctx, t, []uint64{1}, 0)
		} else {
			_, err = pgas.Gather(ctx, t, []int64{1}, 0)
		}
		return err
	}, [2]string{"(int64)", "(uint64)"}},
	{"AllGather: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.AllGather(ctx, t, make([]vector2, 200))
		} else {
			_, err = pgas.AllGather(ctx, t, make([]point, 200))
		}
		return err
	}, [2]string{"(pgas_test.point)", "(pgas_test.vector2)"}},
	{"value: operator", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := pick(odd, pgas.MinValue[int64], pgas.MaxValue[int64])(ctx, t, 1)
		return err
	}, [2]string{"min reduction of a value", "max reduction of a value"}},
	{"value: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.SumValue(ctx, t, 1.5)
		} else {
			_, err = pgas.SumValue(ctx, t, int64(1))
		}
		return err
	}, [2]string{"(int64)", "(float64)"}},
	{"Reduce1: type", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = pgas.Reduce1(ctx, t, vector2{}, func(a, _ vector2) vector2 { return a })
		} else {
			_, err = pgas.Reduce1(ctx, t, point{}, func(a, _ point) point { return a })
		}
		return err
	}, [2]string{"(pgas_test.point)", "(pgas_test.vector2)"}},
	{"Barrier and Sync", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		return pick(odd, t.Barrier, t.Sync)(ctx)
	}, [2]string{"barrier", "sync"}},
	{"Destroy and Sync", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		return pick(odd, t.Destroy, t.Sync)(ctx)
	}, [2]string{"destruction of the team", "sync"}},
}

// ofSplits are the splits.
var ofSplits = []differing{
	{"SplitStrided: start", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := t.SplitStrided(ctx, pick(odd, 0, 1), 1, 1)
		return err
	}, [2]string{"strided split from PE 0 with stride 1, size 1", "strided split from PE 1 with stride 1, size 1"}},
	{"SplitStrided: stride", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := t.SplitStrided(ctx, 1, pick(odd, 1, -1), 1)
		return err
	}, [2]string{"stride 1", "stride -1"}},
	{"SplitStrided: size", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := t.SplitStrided(ctx, 0, 1, pick(odd, 1, 2))
		return err
	}, [2]string{"size 1", "size 2"}},
	{"SplitList", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := t.SplitList(ctx, pick(odd, []int{0, 1}, []int{1, 0}))
		return err
	}, [2]string{"plain split with members [0 1]", "plain split with members [1 0]"}},
	{"Split2D", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, _, err := t.Split2D(ctx, pick(odd, 1, 2))
		return err
	}, [2]string{"2D x split in rows of 1", "2D x split in rows of 2"}},
	{"SplitColor and SplitHost", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) (err error) {
		if odd {
			_, err = t.SplitHost(ctx)
		} else {
			_, err = t.SplitColor(ctx, 0, 0)
		}
		return err
	}, [2]string{"color split", "host split"}},
	{"contexts", func(ctx context.Context, t *pgas.Team, _ *operands, odd bool) error {
		_, err := t.SplitColor(ctx, 0, 0, pgas.WithContexts(pick(odd, 1, 2)))
		return err
	}, [2]string{"for 1 contexts", "for 2 contexts"}},
}

// TestDifferingArguments: a collective to which one member gives another argument than the others is an error on every
// member, which says what each has given. A member that waits for no other in that call gets it from its next one.
func TestDifferingArguments(t *testing.T) {
	for _, table := range []struct {
		name  string
		cases []differing
	}{{"small", movesOf(3)}, {"large", movesOf(1100)}, {"values", ofValues}, {"splits", ofSplits}} {
		t.Run(table.name, func(t *testing.T) {
			for _, npes := range []int{2, 3} {
				t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
					pgastest.RunAll(t, npes, func(ctx context.Context, w *pgas.World) error { return allDiffer(ctx, w, table.cases) })
				})
			}
		})
	}
}

// nonBlocking are forms of collectives that return a Request. The error of a Request comes out of World.Close, too.
var nonBlocking = []differing{
	{"BroadcastNB", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
		return pgas.BroadcastNB(ctx, t, m.dst, m.src, pick(odd, 0, t.NPEs()-1)).Wait(ctx)
	}, [2]string{": broadcast from PE 0 of", ": broadcast from PE 1 of"}},
	{"FCollectNB", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
		return pgas.FCollectNB(ctx, t, m.dst, m.src.Range(0, pick(odd, 1, 2))).Wait(ctx)
	}, [2]string{"fcollect of 1 ×", "fcollect of 2 ×"}},
	{"SumReduceNB", func(ctx context.Context, t *pgas.Team, m *operands, odd bool) error {
		if odd {
			return pgas.SumReduceNB(ctx, t, m.floats[0], m.floats[1]).Wait(ctx)
		}
		return pgas.SumReduceNB(ctx, t, m.dst, m.src).Wait(ctx)
	}, [2]string{"(int64)", "(float64)"}},
}

// TestDifferingNonBlocking: so it is if the collectives return before they are complete.
func TestDifferingNonBlocking(t *testing.T) {
	for _, c := range nonBlocking {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				m, err := newOperands(ctx, w)
				if err != nil {
					return err
				}
				return errors.Join(c.call(ctx, w.Team(), m, w.PE() == 1), w.Sync(ctx))
			})
			if _, ok := errors.AsType[*pgas.MismatchError](err); !ok {
				t.Fatalf("the job ended with %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// allDiffer makes the calls, each on a team of its own, which cannot be used after it.
func allDiffer(ctx context.Context, w *pgas.World, cases []differing) error {
	m, err := newOperands(ctx, w)
	if err != nil {
		return err
	}
	for _, c := range cases {
		mismatch, err := differOnce(ctx, w, m, c)
		for late := 0; err == nil && late < 10 && isLate(mismatch); late++ {
			mismatch, err = differOnce(ctx, w, m, c)
		}
		if err != nil {
			return err
		}
		if len(mismatch.Calls) != 2 {
			return fmt.Errorf("%s: PE %d got %w", c.name, w.PE(), mismatch)
		}
		lines := [2]string{mismatch.Calls[0], mismatch.Calls[1]}
		if strings.HasPrefix(lines[0], fmt.Sprintf("PE %d:", w.NPEs()-1)) {
			lines[0], lines[1] = lines[1], lines[0]
		}
		for i, want := range c.want {
			if !strings.Contains(lines[i], want) {
				return fmt.Errorf("%s: PE %d misses %q in %q of %w", c.name, w.PE(), want, lines[i], mismatch)
			}
		}
	}
	return nil
}

// differOnce makes a call on a team of its own, and returns what all members get.
func differOnce(ctx context.Context, w *pgas.World, m *operands, c differing) (*pgas.MismatchError, error) {
	team, err := w.Team().SplitStrided(ctx, 0, 1, w.NPEs())
	if err != nil {
		return nil, err
	}
	err = c.call(ctx, team, m, w.PE() == w.NPEs()-1)
	if err == nil {
		err = team.Sync(ctx)
	}
	mismatch, ok := errors.AsType[*pgas.MismatchError](err)
	if !ok {
		return nil, fmt.Errorf("%s: PE %d got %w", c.name, w.PE(), err)
	}
	return mismatch, nil
}

// isLate reports whether a member had not come to the call when others asked what it calls, and so has no argument in
// the list. On a loaded machine one comes late now and then. All members have the same list.
func isLate(mismatch *pgas.MismatchError) bool {
	return slices.ContainsFunc(mismatch.Calls, func(line string) bool { return strings.Contains(line, "has not got there") })
}

// TestZeroSliceOnSome: a member that has nothing for a Collect or an AllToAllV may give zero Slices, and elements of
// other members may be at other places of the heap.
func TestZeroSliceOnSome(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		const most = 1000
		mem, err := pgas.Alloc[int32](ctx, w, 8*most)
		if err != nil {
			return err
		}
		for _, n := range []int{4, most} {
			var src pgas.Slice[int32] // PE 1 has nothing
			dst, want := mem.Range(0, 2*n), make([]int32, 0, 2*n)
			for pe := 0; pe < 3; pe += 2 {
				for i := range n {
					want = append(want, int32(n*pe+i))
				}
			}
			if w.PE() != 1 {
				src = mem.Range(4*most+w.PE()*n, 4*most+w.PE()*n+n)
				copy(src.Local(), want[w.PE()/2*n:])
			}
			got, err := pgas.Collect(ctx, w.Team(), dst, src)
			if err != nil || got != 2*n || !slices.Equal(dst.Local(), want) {
				return fmt.Errorf("PE %d: collect of %d elements: %d, %w", w.PE(), n, got, err)
			}
			clear(dst.Local())
			to, from := pgas.Blocks{Displs: make([]int, 3), Counts: make([]int, 3)}, pgas.Blocks{Displs: make([]int, 3), Counts: make([]int, 3)}
			other := 2 - w.PE()
			if w.PE() == 1 {
				dst = pgas.Slice[int32]{}
			} else {
				to.Counts[other], from.Counts[other] = n, n
			}
			if err := pgas.AllToAllV(ctx, w.Team(), dst, to, src, from); err != nil {
				return err
			}
			if w.PE() != 1 && !slices.Equal(dst.Local()[:n], want[other/2*n:][:n]) {
				return fmt.Errorf("PE %d: alltoallv of %d elements brings %v", w.PE(), n, dst.Local())
			}
		}
		return nil
	})
}
