package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// pages is what the goroutines of all PEs share.
type pages struct {
	class
	keys   dsm.Array[int32]
	counts dsm.Array[int32] // by goroutine and value: how many of its keys have the value
	sums   dsm.Array[int32] // by goroutine and range: how many of its keys are in the range
	atMost dsm.Array[int32] // by value: how many keys are at most that
	sorted dsm.Array[int32]
}

// newPages makes a region and its arrays for n goroutines.
func newPages(ctx context.Context, w *pgas.World, s benchmark.Setup, c class, n int) (*pages, *dsm.Region, error) {
	const block = 32 << 10
	lengths := []int{c.n, n * c.max, n * n, c.max, c.n}
	var bytes uint64
	for _, n := range lengths {
		bytes += uint64(4*n+block-1) / block * block // each array begins a block
	}
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: bytes, Block: block})
	if err != nil {
		return nil, nil, err
	}
	t := &pages{class: c}
	for i, a := range []*dsm.Array[int32]{&t.keys, &t.counts, &t.sums, &t.atMost, &t.sorted} {
		if *a, err = dsm.Alloc[int32](ctx, r, lengths[i]); err != nil {
			return nil, nil, err
		}
	}
	return t, r, nil
}

// coherent ranks in goroutines of all PEs.
func coherent(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c, n := classOf(s.Class), s.Goroutines
	t, region, err := newPages(ctx, w, s, c, n*w.NPEs())
	if err != nil {
		return benchmark.Result{}, err
	}
	var o outcome
	err = region.Run(ctx, n, func(ctx context.Context, m dsm.Member) error {
		lo, hi := m.Share(c.n)
		c.generate(t.keys.Overwrite(lo, hi), lo)
		if err := t.rank(ctx, m, 1); err != nil {
			return err
		}
		start, right := time.Now(), 0
		for ranking := 1; ranking <= rankings; ranking++ {
			if err := t.rank(ctx, m, ranking); err != nil {
				return err
			}
			if m.ID() == 0 {
				right += c.right(ranking, t.keys.At, t.atMost.At)
			}
		}
		took := time.Since(start)
		ordered, err := t.sort(ctx, m)
		if m.ID() == 0 {
			o = outcome{right, ordered, took}
		}
		return err
	})
	if err != nil {
		return benchmark.Result{}, err
	}
	return c.result(o), region.Close(ctx)
}

// rank ranks the keys once. When it returns, the ranks are complete.
func (t *pages) rank(ctx context.Context, m dsm.Member, ranking int) error {
	lo, hi := m.Share(t.n)
	t.change(t.keys.Update(lo, min(lo+2*rankings+1, hi)), lo, ranking) // no other keys ever change
	keys := t.keys.View(lo, hi)
	own := t.counts.Overwrite(m.ID()*t.max, (m.ID()+1)*t.max)
	count(own, keys)
	for i := range m.N() {
		from, to := i*t.max/m.N(), (i+1)*t.max/m.N()
		t.sums.Set(m.ID()*m.N()+i, sumOf(own[from:to]))
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	from, to := m.Share(t.max)
	total, below := t.atMost.Overwrite(from, to), int32(0)
	clear(total)
	for i := range m.N() {
		add(total, t.counts.View(i*t.max+from, i*t.max+to))
		below += sumOf(t.sums.View(i*m.N(), i*m.N()+m.ID()))
	}
	accumulate(total, below)
	return m.Barrier(ctx)
}

// sort puts all keys in order by their ranks, and returns how many are. A member places the keys of its range.
func (t *pages) sort(ctx context.Context, m dsm.Member) (int, error) {
	from, to := m.Share(t.max)
	first, last := 0, int(t.atMost.At(to-1))
	if from > 0 {
		first = int(t.atMost.At(from - 1))
	}
	ordered := place(t.sorted.Overwrite(first, last), first, t.keys.View(0, t.n), t.atMost.View(from, to), from)
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	// With the last key of the range before, so that the border counts.
	ordered -= descents(t.sorted.View(max(first-1, 0), last))
	sums, err := m.Sum(ctx, float64(ordered))
	if err != nil {
		return 0, err
	}
	return int(sums[0]), nil
}
