package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/versions"
)

// random returns a full matrix that is positive definite, because its diagonal outweighs the rest.
func random(seed uint64, order int) *sparse {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &sparse{order: order}
	for row := range order {
		for column := range row {
			s.entries = append(s.entries, entry{row, column, 2*r.Float64() - 1})
		}
		s.entries = append(s.entries, entry{row, row, float64(order) + r.Float64()})
	}
	return s
}

// Every round checks its factor, so the modes must only come to an end.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		npes, order, side int
		random            bool
		eager             int
	}{
		{1, 7, 4, false, 16},
		{2, 12, 4, true, 16},   // nearly all tiles go to the other PE
		{3, 40, 8, true, 63},   // five tiles to each PE, and messages that ask first
		{5, 33, 16, true, 256}, // one or two, the last ones cut off
	} {
		t.Run(fmt.Sprintf("%d PEs, order %d, tiles of %d", c.npes, c.order, c.side), func(t *testing.T) {
			pgastest.RunAll(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				in := &input{order: c.order, side: c.side, eager: c.eager}
				if c.random && w.PE() == 0 {
					var err error
					if in.problem, err = pose(random(uint64(c.order), c.order)); err != nil {
						return err
					}
				}
				for _, m := range modes(in) {
					if err := m.Rounds(ctx, w, 2); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// What the sample is to show, on the machine that is simulated, with tasks as fast as half of what a core of it can
// do at best: notified puts are at least 1.5 times as fast as messages that ask first. Where the tasks take longer,
// less of the time is communication.
func TestFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates hundreds of PEs")
	}
	ratios, err := program(&input{}).Faster(t.Context(), "notify", "-pes", "32,64,128", "-flop", "0.1")
	if err != nil {
		t.Fatal(err)
	}
	for i, ratio := range ratios {
		if ratio < 1.5 {
			t.Errorf("point %d: notified puts are %.2f times as fast as messages", i, ratio)
		}
	}
}

// A factor of which one element is wrong is noticed, wherever it is.
func TestCheck(t *testing.T) {
	p, err := pose(random(1, 9))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.check(p.l); err != nil {
		t.Error(err)
	}
	for row := range p.order {
		for column := range row + 1 {
			wrong := append([]float64(nil), p.l...)
			wrong[row*p.order+column] += 1e-9
			if err := p.check(wrong); err == nil {
				t.Errorf("a wrong row %d, column %d is not noticed", row, column)
			}
		}
	}
}

// Tiles cut from a matrix are it again when they are pasted together.
func TestCutAndPaste(t *testing.T) {
	const side = 4
	for order := 1; order < 3*side; order++ {
		p, err := pose(random(2, order))
		if err != nil {
			t.Fatal(err)
		}
		got, tile := make([]float64, order*order), make([]float64, side*side)
		l := newLayout(order, side, 1)
		l.each(func(_, m, n int) {
			for i := range tile {
				tile[i] = 99
			}
			p.cut(tile, side, m, n)
			p.paste(got, tile, side, m, n)
			if m == n && m == l.rows-1 {
				for i := order - m*side; i < side; i++ {
					if tile[i*side+i] != 1 {
						t.Errorf("order %d: %v beyond the matrix", order, tile)
					}
				}
			}
		})
		for i, want := range p.a {
			if got[i] != want {
				t.Fatalf("order %d: element %d is %v, not %v", order, i, got[i], want)
			}
		}
	}
}

func TestNoFactor(t *testing.T) {
	for want, s := range map[string]*sparse{
		"row 2 of the diagonal is -1":         {2, []entry{{0, 0, 1}, {1, 1, -1}}},
		"the matrix is not positive definite": {2, []entry{{0, 0, 1}, {1, 0, 2}, {1, 1, 1}}},
	} {
		if _, err := pose(s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", s, err, want)
		}
	}
}

// A matrix that turns out not to be positive definite is an error on the PE that finds it.
func TestNotPositive(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		in := &input{order: 8, side: 4, eager: 16}
		r, err := versions.NewRun(ctx, w)
		if err != nil {
			return err
		}
		v, err := modes(in)[0].Open(ctx, r)
		if err != nil {
			return err
		}
		in.problem.a[5*8+5] = -1
		if _, err := v.Round(ctx); err == nil || err.Error() != "the matrix is not positive definite" {
			t.Error(err)
		}
		return nil
	})
}

// BenchmarkTask measures the default of -flop.
func BenchmarkTask(b *testing.B) {
	const side = 32
	tile, other := make([]float64, side*side), make([]float64, side*side)
	fill := func() {
		for i := range tile {
			tile[i], other[i] = 0.001, 0.001
		}
		for i := range side {
			tile[i*side+i], other[i*side+i] = 4, 4
		}
	}
	for _, task := range []struct {
		name string
		kind kind
		do   func()
	}{
		{"DPOTRF", ofPOTRF, func() { fill(); potrf(tile, side) }},
		{"DTRSM", ofTRSM, func() { trsm(tile, other, side) }},
		{"DSYRK", ofSYRK, func() { syrk(tile, other, side) }},
		{"DGEMM", ofGEMM, func() { gemm(tile, other, other, side) }},
	} {
		b.Run(task.name, func(b *testing.B) {
			fill()
			for b.Loop() {
				task.do()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/task.kind.flops(side), "ns/flop")
		})
	}
}

func TestCosts(t *testing.T) {
	for text, want := range map[string]string{
		"0.5": "0.5,0.5,0.5,0.5", "1,2,0,1e3": "1,2,0,1000",
		"1,2": "!", "": "!", "-1": "!", "NaN": "!", "1,2,3,4,5": "!", "1,2,x,4": "!",
	} {
		var c costs
		if err := c.Set(text); (err != nil) != (want == "!") || err == nil && c.String() != want {
			t.Errorf("-flop %s: %v, %v, want %s", text, c, err, want)
		}
	}
	if got := (costs{ofTRSM: 0.5}).takes(ofTRSM, 10); got != 500 {
		t.Errorf("a DTRSM takes %v", got)
	}
}
