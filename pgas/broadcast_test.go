package pgas_test

// The broadcast of active sets, which leaves the destination of the root as it is.

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestBroadcastExceptRoot checks every algorithm, every root, blocking and non-blocking, with data that fits one
// message, one mailbox, or only several pieces.
func TestBroadcastExceptRoot(t *testing.T) {
	const most = 40_000
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		dst, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		src, err := pgas.Alloc[int64](ctx, w, most)
		if err != nil {
			return err
		}
		for round, n := range []int{1, 3, 700, most} {
			for root := range w.NPEs() {
				for way, opts := range exceptRootWays {
					mark := int64(1000*round + 100*root + way + 1)
					fill(src.Local()[:n], mark)
					fill(dst.Local()[:n], -mark)
					call := pgas.Broadcast[int64]
					if way%2 == 1 {
						call = waitedBroadcast
					}
					if err := call(ctx, w.Team(), dst.Range(0, n), src.Range(0, n), root, opts...); err != nil {
						return err
					}
					if w.PE() == root {
						mark = -mark
					}
					for i, v := range dst.Local()[:n] {
						if v != mark {
							return fmt.Errorf("%d elements from PE %d, way %d: element %d of PE %d is %d, want %d", n, root, way, i, w.PE(), v, mark)
						}
					}
				}
			}
		}
		return nil
	})
}

var exceptRootWays = [][]pgas.CollectiveOption{
	{pgas.ExceptRoot()},
	{pgas.ExceptRoot()},
	{pgas.ExceptRoot(), pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.Linear)},
	{pgas.NoHierarchy(), pgas.WithAlgorithm(pgas.Tree), pgas.ExceptRoot()},
}

func waitedBroadcast(ctx context.Context, t *pgas.Team, dst, src pgas.Slice[int64], root int, opts ...pgas.CollectiveOption) error {
	return pgas.BroadcastNB(ctx, t, dst, src, root, opts...).Wait(ctx)
}

func fill(s []int64, v int64) {
	for i := range s {
		s[i] = v
	}
}
