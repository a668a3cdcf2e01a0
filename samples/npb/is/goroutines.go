package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/parallel"
)

// threads is what the goroutines share.
type threads struct {
	class
	keys   []int32
	counts []int32 // by goroutine and value: how many of its keys have the value
	sums   []int32 // by goroutine and range: how many of its keys are in the range
	atMost []int32 // by value: how many keys are at most that
	sorted []int32
}

// goroutines ranks in goroutines of this process.
func goroutines(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c, n := classOf(s.Class), s.Goroutines
	t := &threads{class: c, keys: make([]int32, c.n), counts: make([]int32, n*c.max)}
	t.sums, t.atMost, t.sorted = make([]int32, n*n), make([]int32, c.max), make([]int32, c.n)
	var o outcome
	err := parallel.Run(ctx, n, func(ctx context.Context, m parallel.Member) error {
		lo, hi := m.Share(c.n)
		c.generate(t.keys[lo:hi], lo)
		if err := t.rank(ctx, m, 1); err != nil {
			return err
		}
		start, right := time.Now(), 0
		for ranking := 1; ranking <= rankings; ranking++ {
			if err := t.rank(ctx, m, ranking); err != nil {
				return err
			}
			if m.ID() == 0 {
				right += c.right(ranking, func(at int) int32 { return t.keys[at] }, func(v int) int32 { return t.atMost[v] })
			}
		}
		took := time.Since(start)
		ordered, err := t.sort(ctx, m)
		if m.ID() == 0 {
			o = outcome{right, ordered, took}
		}
		return err
	})
	return c.result(o), err
}

// rank ranks the keys once. When it returns, the ranks are complete.
func (t *threads) rank(ctx context.Context, m parallel.Member, ranking int) error {
	lo, hi := m.Share(t.n)
	keys := t.keys[lo:hi]
	t.change(keys, lo, ranking)
	own := t.counts[m.ID()*t.max : (m.ID()+1)*t.max]
	count(own, keys)
	for i := range m.N() {
		from, to := i*t.max/m.N(), (i+1)*t.max/m.N()
		t.sums[m.ID()*m.N()+i] = sumOf(own[from:to])
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	from, to := m.Share(t.max)
	total, below := t.atMost[from:to], int32(0)
	clear(total)
	for i := range m.N() {
		add(total, t.counts[i*t.max+from:i*t.max+to])
		below += sumOf(t.sums[i*m.N() : i*m.N()+m.ID()])
	}
	accumulate(total, below)
	return m.Barrier(ctx)
}

// sort puts all keys in order by their ranks, and returns how many are. A member places the keys of its range.
func (t *threads) sort(ctx context.Context, m parallel.Member) (int, error) {
	from, to := m.Share(t.max)
	first, last := 0, int(t.atMost[to-1])
	if from > 0 {
		first = int(t.atMost[from-1])
	}
	ordered := place(t.sorted[first:last], first, t.keys, t.atMost[from:to], from)
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	// With the last key of the range before, so that the border counts.
	ordered -= descents(t.sorted[max(first-1, 0):last])
	sums, err := m.Sum(ctx, float64(ordered))
	if err != nil {
		return 0, err
	}
	return int(sums[0]), nil
}
