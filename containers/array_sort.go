package containers

// Sorting an array: a sample sort.
//
// Each member sorts its elements and shows the others a few, evenly spaced. From the samples of all, every member
// computes the same splitters, which divide all elements into as many buckets as there are members, about as large as
// each other. A bucket's elements travel to one member, which sorts them and puts them where they belong.
//
// Elements that compare equal are told apart by the member and place that they come from, so that many equal elements
// spread over many buckets.

import (
	"cmp"
	"context"
	"slices"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// samplesPerMember is how many elements a member with a full part shows.
const samplesPerMember = 128

// sample is an element with where it comes from.
type sample[T any] struct {
	v      T
	pe, at int32
}

// Sort sorts a in ascending order, as slices.Sort does a slice. It is SortFunc with cmp.Compare.
func Sort[T cmp.Ordered](ctx context.Context, a *Array[T]) error {
	a.enter(ctx, "Sort")
	defer a.turn.leave()
	return a.sort(ctx, "Sort", slices.Sort[[]T], cmp.Compare[T])
}

// SortFunc sorts the elements in ascending order as compare orders them, which is as slices.SortFunc has it. Elements
// that compare equal may change places.
//
// It is collective, and contains barriers. Each element travels at most twice: to the member that sorts its
// bucket, and to its place. A member needs Go memory for its part twice, and for its bucket, which is rarely
// more than half as large again.
func (a *Array[T]) SortFunc(ctx context.Context, compare func(x, y T) int) error {
	const op = "Array.SortFunc"
	a.enter(ctx, op)
	defer a.turn.leave()
	if compare == nil {
		carry.Misuse(op, "the function is nil")
	}
	return a.sort(ctx, op, func(s []T) { slices.SortFunc(s, compare) }, compare)
}

func (a *Array[T]) sort(ctx context.Context, op string, sortSlice func([]T), compare func(x, y T) int) error {
	if err := a.barrier(ctx, op); err != nil {
		return err
	}
	mine := slices.Clone(a.Local())
	sortSlice(mine)
	cuts, err := a.cuts(ctx, mine, compare)
	if err != nil {
		return err
	}
	bucket, err := a.exchange(ctx, op, mine, cuts)
	if err != nil {
		return err
	}
	sortSlice(bucket)
	sizes, err := pgas.AllGather(ctx, a.members.Team, []int{len(bucket)})
	if err != nil {
		return err
	}
	lo := 0
	for _, size := range sizes[:a.members.Me] {
		lo += size[0]
	}
	a.PutRange(lo, bucket)
	return a.settle(ctx, op)
}

// cuts returns where the buckets of this member's sorted elements begin and end: n+1 places.
func (a *Array[T]) cuts(ctx context.Context, mine []T, compare func(x, y T) int) ([]int, error) {
	shown, err := pgas.AllGather(ctx, a.members.Team, a.samples(mine))
	if err != nil {
		return nil, err
	}
	samples := slices.Concat(shown...)
	before := func(x, y sample[T]) int {
		return cmp.Or(compare(x.v, y.v), cmp.Compare(x.pe, y.pe), cmp.Compare(x.at, y.at))
	}
	slices.SortFunc(samples, before)
	cuts := make([]int, a.members.N+1)
	cuts[a.members.N] = len(mine)
	for b := 1; b < a.members.N && len(samples) > 0; b++ {
		splitter := samples[b*len(samples)/a.members.N]
		lo, hi := cuts[b-1], len(mine)
		for lo < hi {
			at := (lo + hi) / 2
			if before(sample[T]{mine[at], int32(a.members.Me), int32(at)}, splitter) < 0 {
				lo = at + 1
			} else {
				hi = at
			}
		}
		cuts[b] = lo
	}
	return cuts, nil
}

// samples returns evenly spaced elements of mine: as many for a member's number of elements on each.
func (a *Array[T]) samples(mine []T) []sample[T] {
	most := max(a.layout.most(), 1)
	n := min((len(mine)*samplesPerMember+most-1)/most, len(mine))
	samples := make([]sample[T], n)
	for k := range samples {
		at := (2*k + 1) * len(mine) / (2 * n)
		samples[k] = sample[T]{mine[at], int32(a.members.Me), int32(at)}
	}
	return samples
}

// exchange sends each bucket of this member's elements to its member, and returns this member's bucket.
func (a *Array[T]) exchange(ctx context.Context, op string, mine []T, cuts []int) (bucket []T, err error) {
	m := a.moves
	bucket = slices.Clone(mine[cuts[a.members.Me]:cuts[a.members.Me+1]])
	m.onSorted = func(_ int, values []T) error {
		bucket = append(bucket, values...)
		return nil
	}
	err = a.joint(ctx, op, func(ctx context.Context) error {
		for k := 1; k < a.members.N; k++ {
			pe := (a.members.Me + k) % a.members.N
			for _, v := range mine[cuts[pe]:cuts[pe+1]] {
				if err := m.sorted.send(ctx, pe, v); err != nil {
					return err
				}
			}
		}
		return m.sorted.flush(ctx)
	})
	return bucket, err
}
