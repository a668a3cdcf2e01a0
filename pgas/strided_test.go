package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestStrided runs random strided transfers against a twin that moves element by element.
//
//ci:ucx
func TestStrided(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		for seed := range uint64(2) {
			if err := copyStrided(ctx, w, seed, 9_000, func(x uint64) uint8 { return uint8(x) }); err != nil {
				return err
			}
			if err := copyStrided(ctx, w, seed, 9_000, func(x uint64) int64 { return int64(x) }); err != nil {
				return err
			}
			if err := copyStrided(ctx, w, seed, 3_000, func(x uint64) [3]uint32 { return [3]uint32{uint32(x), 1, uint32(x >> 32)} }); err != nil {
				return err
			}
		}
		return nil
	}
	onEvery(t, 2, body)
	t.Run("UCX's own", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, body, "PGAS_RMA=native", "PGAS_AMO=nic") })
	pgastest.RunLateSeeds(t, 2, 2, 1, body) // a transport that knows no strides
}

// shape is one strided transfer: n blocks on a range of the heap and on a local slice.
type shape struct{ at, end, from, far, near, block, n int }

// randomShape fits most elements. Its range starts where its first block does and ends anywhere behind
// its last one.
func randomShape(r *rand.Rand, most int) shape {
	s := shape{block: 1}
	switch r.IntN(4) {
	case 0:
		s.block = 1 + r.IntN(40)
	case 1:
		s.block = 1 + r.IntN(most/2)
	}
	s.far, s.near = s.block+gap(r), s.block+gap(r)
	s.n = r.IntN((most-s.block)/max(s.far, s.near) + 2)
	if r.IntN(2) == 0 {
		s.n = min(s.n, r.IntN(20))
	}
	if s.n == 0 {
		s.end = r.IntN(most)
		return s
	}
	need := (s.n-1)*s.far + s.block
	s.at = r.IntN(most - need + 1)
	s.end = s.at + need + r.IntN(most-need-s.at+1)
	s.from = r.IntN(most - (s.n-1)*s.near - s.block + 1)
	return s
}

func gap(r *rand.Rand) int { return r.IntN(1 + r.IntN(1+r.IntN(500))) }

// spread is the twin: block i goes from i*from elements on to i*to elements on.
func spread[T any](dst, src []T, to, from, block, n int) {
	for i := range n {
		for j := range block {
			dst[i*to+j] = src[i*from+j]
		}
	}
}

// A stridedScript is random transfers between a PE and another one's memory, which nobody else uses.
// Without a World only the twin changes.
type stridedScript[T comparable] struct {
	r     *rand.Rand
	value func(uint64) T
	twin  []T // of heap on pe
	w     *pgas.World
	heap  pgas.Slice[T]
	pe    int
}

func newScript[T comparable](seed uint64, origin, most int, value func(uint64) T) *stridedScript[T] {
	return &stridedScript[T]{r: rand.New(rand.NewPCG(seed, uint64(origin))), value: value, twin: make([]T, most)}
}

// copyStrided lets each PE work on the next one's memory. The owner runs the same script on a twin, and so
// knows what must have come.
func copyStrided[T comparable](ctx context.Context, w *pgas.World, seed uint64, most int, value func(uint64) T) error {
	const steps = 40
	s, err := pgas.Alloc[T](ctx, w, most)
	if err != nil {
		return err
	}
	mine := newScript(seed, w.PE(), most, value)
	mine.w, mine.heap, mine.pe = w, s.All(), (w.PE()+1)%w.NPEs()
	theirs := newScript(seed, (w.PE()+w.NPEs()-1)%w.NPEs(), most, value)
	for step := range steps {
		if err := mine.step(ctx); err != nil {
			return fmt.Errorf("seed %d, step %d, %T: %w", seed, step, *new(T), err)
		}
		theirs.step(ctx)
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for i, want := range theirs.twin {
		if got := s.Local()[i]; got != want {
			return fmt.Errorf("seed %d, %T: element %d is %v, want %v", seed, want, i, got, want)
		}
	}
	return s.Free(ctx)
}

func (s *stridedScript[T]) step(ctx context.Context) error {
	if s.r.IntN(3) > 0 {
		return s.put(ctx)
	}
	return s.get(ctx)
}

func (s *stridedScript[T]) put(ctx context.Context) error {
	x, first, late := randomShape(s.r, len(s.twin)), s.r.Uint64(), s.r.IntN(2) == 0
	src := make([]T, len(s.twin))
	for i := range src {
		src[i] = s.value(first + uint64(i)*0x9e3779b97f4a7c15)
	}
	spread(s.twin[x.at:x.end], src[x.from:], x.far, x.near, x.block, x.n)
	if s.w == nil {
		return nil
	}
	var read pgas.LocalCompletion
	dst := s.heap.Range(x.at, x.end)
	switch {
	case x.block == 1 && late:
		read = dst.IPutNB(s.pe, src[x.from:], x.far, x.near, x.n)
	case x.block == 1:
		dst.IPut(s.pe, src[x.from:], x.far, x.near, x.n)
	case late:
		read = dst.IBPutNB(s.pe, src[x.from:], x.far, x.near, x.block, x.n)
	default:
		dst.IBPut(s.pe, src[x.from:], x.far, x.near, x.block, x.n)
	}
	if err := read.Wait(ctx); err != nil {
		return err
	}
	clear(src)  // it may be reused
	s.w.Fence() // the next one may go to the same place
	return nil
}

// get compares blocking and non-blocking gets, which must leave what lies between their blocks alone.
func (s *stridedScript[T]) get(ctx context.Context) error {
	type pair struct {
		x         shape
		got, late []T
	}
	var pairs []pair
	for range 3 {
		pairs = append(pairs, pair{x: randomShape(s.r, len(s.twin))})
	}
	if s.w == nil {
		return nil
	}
	if err := s.w.Quiet(ctx); err != nil {
		return err
	}
	for i, p := range pairs {
		src, x := s.heap.Range(p.x.at, p.x.end), p.x
		p.got, p.late = s.untouched(), s.untouched()
		if x.block == 1 {
			src.IGetNB(s.pe, p.late[x.from:], x.near, x.far, x.n)
			src.IGet(s.pe, p.got[x.from:], x.near, x.far, x.n)
		} else {
			src.IBGetNB(s.pe, p.late[x.from:], x.near, x.far, x.block, x.n)
			src.IBGet(s.pe, p.got[x.from:], x.near, x.far, x.block, x.n)
		}
		pairs[i] = p
	}
	if err := s.w.Quiet(ctx); err != nil {
		return err
	}
	for _, p := range pairs {
		want := s.untouched()
		spread(want[p.x.from:], s.twin[p.x.at:p.x.end], p.x.near, p.x.far, p.x.block, p.x.n)
		for i := range want {
			if p.got[i] != want[i] || p.late[i] != want[i] {
				return fmt.Errorf("get of %+v: element %d is %v (%v non-blocking), want %v", p.x, i, p.got[i], p.late[i], want[i])
			}
		}
	}
	return nil
}

func (s *stridedScript[T]) untouched() []T {
	dst := make([]T, len(s.twin))
	for i := range dst {
		dst[i] = s.value(uint64(i) * 77)
	}
	return dst
}

func TestStridedMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		sym, err := pgas.Alloc[int32](ctx, w, 10)
		if err != nil {
			return err
		}
		s, ten := sym.All(), make([]int32, 10)
		for _, c := range []struct {
			want   string
			misuse func()
		}{
			{"IPut: the stride of the destination is 0: strides count", func() { s.IPut(1, ten, 0, 1, 3) }},
			{"IPutNB: the stride of the source is -1: strides count", func() { s.IPutNB(1, ten, 1, -1, 0) }},
			{"IGet: the stride of the destination is 0", func() { s.IGet(1, ten, 0, 1, 3) }},
			{"IGetNB: the stride of the source is 0", func() { s.IGetNB(1, ten, 1, 0, 3) }},
			{"blocks of 3 elements would overlap: it must be at least 3", func() { s.IBPut(1, ten, 2, 3, 3, 2) }},
			{"blocks of 3 elements would overlap: it must be at least 3", func() { s.IBGet(1, ten, 3, 2, 3, 2) }},
			{"-1 blocks of 1 element: a count must not be negative", func() { s.IPut(1, ten, 1, 1, -1) }},
			{"2 blocks of -1 elements: a count must not be negative", func() { s.IBPutNB(1, ten, 1, 1, -1, 2) }},
			{"5 blocks of 1 element at a stride of 3 do not fit the 10 elements of the destination: 4 would", func() { s.IPut(1, ten, 3, 1, 5) }},
			{"do not fit the 10 elements of the source: 4 would", func() { s.IPut(1, ten, 1, 3, 5) }},
			{"do not fit the 4 elements of the source: 2 would", func() { s.Range(6, 10).IGet(1, ten, 1, 3, 3) }},
			{"do not fit the 9 elements of the destination: 3 would", func() { s.IBGetNB(1, ten[:9], 3, 2, 2, 4) }},
			{"1 block of 11 elements at a stride of 11 do not fit the 10 elements of the destination: 0 would", func() { s.IBPut(1, make([]int32, 11), 11, 11, 11, 1) }},
			{"at a stride of 4611686018427387904 do not fit", func() { s.IPut(1, ten, 1<<62, 1, 5) }},
			{"IPut: PE 2 is out of range", func() { s.IPut(2, ten, 1, 1, 1) }},
			{"IBGet: PE -1 is out of range", func() { s.IBGet(-1, ten, 1, 1, 1, 0) }},
			{"Ptr: PE 2 is out of range", func() { s.Ptr(2) }},
		} {
			err := panicOf(c.misuse)
			var usage *pgas.UsageError
			if !errors.As(err, &usage) {
				return fmt.Errorf("%s: panics with %v, not with a *UsageError", c.want, err)
			}
			if !strings.Contains(usage.Op+": "+usage.Msg, c.want) {
				return fmt.Errorf("panics with %q, which does not say %q", err, c.want)
			}
		}
		for _, v := range sym.Local() {
			if v != 0 {
				return errors.New("misuse has moved data")
			}
		}
		return nil
	})
}

// TestStridedNothing: no elements are no transfer, whatever else is passed.
func TestStridedNothing(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		sym, err := pgas.Alloc[int16](ctx, w, 4)
		if err != nil {
			return err
		}
		other, s := 1-w.PE(), sym.All()
		for _, e := range []pgas.Slice[int16]{s, s.Range(4, 4)} {
			e.IPut(other, nil, 100, 1, 0)
			e.IBPutNB(other, nil, 5, 7, 5, 0)
			e.IBPut(other, nil, 1, 1, 0, 3)
			e.IGet(other, nil, 1, 100, 0)
			e.IBGet(other, nil, 7, 7, 7, 0)
			e.IGetNB(other, nil, 1, 1, 0)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if got := [4]int16(sym.Local()); got != [4]int16{} {
			return fmt.Errorf("the heap holds %v", got)
		}
		return nil
	})
}

// TestStridedOnTeams: PE numbers are those of the context's team.
func TestStridedOnTeams(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		sym, err := pgas.Alloc[int64](ctx, w, 6)
		if err != nil {
			return err
		}
		team, err := w.Team().SplitStrided(ctx, 2, -1, 3) // 2, 1, 0
		if err != nil {
			return err
		}
		me := int64(w.PE())
		next := (team.PE() + 1) % 3
		sym.All().On(team.Context()).IPut(next, []int64{me + 10, 0, me + 20}, 3, 2, 2)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		from := (me + 1) % 3
		want := [6]int64{from + 10, 0, 0, from + 20}
		var got [6]int64
		sym.All().On(team.Context()).IGet(team.PE(), got[:], 1, 1, 6)
		if got != want || [6]int64(sym.Local()) != want {
			return fmt.Errorf("got %v, have %v, want %v", got, sym.Local(), want)
		}
		return w.Barrier(ctx)
	})
}

// TestColumns: a column of a matrix is a strided range of its numbers, whether the matrix is an
// allocation of rows or a field of a record.
func TestColumns(t *testing.T) {
	type table struct {
		Head int64
		Grid [5][7]float32
	}
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		rows, err := pgas.Alloc[[7]float32](ctx, w, 5)
		if err != nil {
			return err
		}
		tables, err := pgas.Alloc[table](ctx, w, 2)
		if err != nil {
			return err
		}
		grid := pgas.Field[[5][7]float32](tables.At(1), 8)
		other, column := 1-w.PE(), []float32{1, 2, 3, 4, 5}
		for _, flat := range []pgas.Slice[float32]{pgas.Flatten[float32](rows.All()), pgas.Flatten[float32](grid.Slice())} {
			if flat.Len() != 35 {
				return fmt.Errorf("%d numbers", flat.Len())
			}
			flat.Range(3, 35).IPut(other, column, 7, 1, 5)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for i := range 5 {
			for j := range 7 {
				var want float32
				if j == 3 {
					want = float32(i + 1)
				}
				if a, b := rows.Local()[i][j], grid.Local()[i][j]; a != want || b != want {
					return fmt.Errorf("row %d, column %d: %v and %v, want %v", i, j, a, b, want)
				}
			}
		}
		if pgas.Flatten[[7]float32](rows.All()).Len() != 5 || pgas.Flatten[[7]float32](grid.Slice()).Len() != 5 {
			return errors.New("rows are not the elements of a matrix")
		}
		if _, ok := panicOf(func() { pgas.Flatten[float64](rows.All()) }).(*pgas.UsageError); !ok {
			return errors.New("float32s passed for float64s")
		}
		return w.Barrier(ctx)
	})
}
