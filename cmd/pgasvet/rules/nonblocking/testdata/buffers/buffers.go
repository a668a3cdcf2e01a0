// Package buffers has buffers of non-blocking puts and gets that are touched too early, and in time.
package buffers

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

func changed(ctx context.Context, w *pgas.World, s pgas.Slice[int64], src []int64) error {
	s.PutNB(1, src)
	fmt.Println(src[0])
	src[0] = 5                   // want `Slice.PutNB of line [0-9]+ may still read this memory, so that it sends what is stored here: call Wait of its LocalCompletion, or Quiet, before`
	copy(src[2:], []int64{1, 2}) // want `Slice.PutNB of line [0-9]+ may still read this memory`
	clear(src)                   // want `Slice.PutNB of line [0-9]+ may still read this memory`
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	src[0] = 6
	return nil
}

func completed(ctx context.Context, w *pgas.World, s pgas.Slice[int64], src []int64) error {
	sent := s.PutNB(1, src)
	if err := sent.Wait(ctx); err != nil {
		return err
	}
	src[0] = 5
	sent = s.PutNB(1, src)
	for !sent.Done() {
	}
	src[0] = 5
	s.PutNB(1, src)
	if err := w.Context().QuietLocal(ctx); err != nil {
		return err
	}
	src[0] = 5
	s.PutNB(1, src)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	src[0] = 5
	s.Put(1, src)
	src[0] = 5
	return nil
}

// Time that passes completes nothing.
func sleeps(ctx context.Context, w *pgas.World, s pgas.Slice[int64], src []int64) error {
	s.PutNB(1, src)
	time.Sleep(time.Millisecond)
	if err := w.Sleep(ctx, time.Millisecond); err != nil {
		return err
	}
	src[0] = 5 // want `Slice.PutNB of line [0-9]+ may still read this memory`
	return w.Quiet(ctx)
}

func inALoop(ctx context.Context, w *pgas.World, s pgas.Slice[int64], src []int64) error {
	for i := range 10 {
		for k := range src {
			src[k] = int64(i) // want `Slice.PutNB of line [0-9]+ may still read this memory`
		}
		s.PutNB(1, src)
	}
	return w.Quiet(ctx)
}

func inTurns(ctx context.Context, w *pgas.World, s pgas.Slice[int64], buffers [][]int64) error {
	var sent [2]pgas.LocalCompletion
	for i := range 10 {
		if err := sent[i%2].Wait(ctx); err != nil {
			return err
		}
		src := buffers[i%2]
		src[0] = int64(i)
		sent[i%2] = s.PutNB(1, src)
	}
	return w.Quiet(ctx)
}

func fresh(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) error {
	for i := range 10 {
		src := make([]int64, 100)
		src[0] = int64(i)
		s.PutNB(1, src)
	}
	return w.Quiet(ctx)
}

func parts(s pgas.Slice[int64], src []int64) {
	s.PutNB(1, src[:50])
	src[50] = 1
}

func made(s pgas.Slice[int64]) {
	src := make([]int64, 50)
	s.PutNB(1, src)
	src[7] = 1 // want `Slice.PutNB of line [0-9]+ may still read this memory`
}

func single(r pgas.Ref[int64]) {
	v := int64(5)
	r.PutNB(1, &v)
	v = 6
	r.PutNB(1, &v)
}

type sender struct{ src []int64 }

func (x *sender) field(s pgas.Slice[int64]) {
	s.PutNB(1, x.src)
	x.src[3]++ // want `Slice.PutNB of line [0-9]+ may still read this memory`
}

func gets(ctx context.Context, w *pgas.World, s pgas.Slice[int64], c design.CellRef, a pgas.Atomic[int64], dst []int64) error {
	var sum float64
	var n int64
	s.GetNB(1, dst)
	c.GetSumNB(1, &sum)
	a.FetchAddNB(1, 1, &n)
	if dst[0] > 0 { // want `Slice.GetNB of line [0-9]+ has not filled this memory until a Quiet: neither read nor write it before`
		return nil
	}
	fmt.Println(sum, n) // want `CellRef.GetSumNB of line [0-9]+ has not filled this memory` `Atomic.FetchAddNB of line [0-9]+ has not filled this memory`
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	fmt.Println(sum, n, dst[0])
	return nil
}

func elements(ctx context.Context, w *pgas.World, s, t pgas.Slice[int64], a pgas.Atomic[int64], dst []int64) error {
	for pe := range w.NPEs() {
		a.FetchAddNB(pe, 1, &dst[pe])
	}
	t.Put(1, dst) // want `Atomic.FetchAddNB of line [0-9]+ has not filled this memory until a Quiet`
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	s.GetNB(1, dst[:4])
	s.GetNB(2, dst[4:])
	s.GetNB(3, dst[2:3]) // want `Slice.GetNB of line [0-9]+ has not filled this memory until a Quiet`
	r := pgas.SumReduceNB(ctx, w.Team(), s, t)
	t.Local()[0] = 1       // want `pgas.SumReduceNB of line [0-9]+ may still read this memory: call Wait of its Request before`
	fmt.Println(s.Local()) // want `pgas.SumReduceNB of line [0-9]+ has not filled this memory until a Wait of its Request: neither read nor write it before`
	return r.Wait(ctx)
}
