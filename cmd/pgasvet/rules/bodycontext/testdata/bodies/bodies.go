// Package bodies has waits with contexts that do not end with the job, and others that do.
package bodies

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if err := w.Barrier(context.Background()); err != nil { // want `World.Barrier waits with context.Background\(\), which does not end with the job: use the context that the body is given`
			return err
		}
		cells, err := design.AllocCell(context.TODO(), w, 1) // want `design.AllocCell waits with context.TODO`
		if err != nil {
			return err
		}
		return solve(ctx, w, cells.At(0))
	})
}

func solve(ctx context.Context, w *pgas.World, c design.CellRef) error {
	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := c.Ready().WaitUntil(short, pgas.GE, 1); err != nil { // want `SignalRef.WaitUntil waits with context.Background`
		return err
	}
	short, cancel = context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := c.Ready().WaitUntil(short, pgas.GE, 1); err != nil {
		return err
	}
	wait := func() error {
		return w.Quiet(context.Background()) // want `World.Quiet waits with context.Background`
	}
	return wait()
}

func unnamed(_ context.Context, w *pgas.World, l locks.Lock) error {
	return l.Lock(context.Background()) // want `Lock.Lock waits with context.Background`
}

func shadowed(ctx context.Context, w *pgas.World) error {
	{
		ctx := 5
		_ = ctx
		return w.Quiet(context.Background()) // want `World.Quiet waits with context.Background`
	}
}

func cleaning(ctx context.Context, w *pgas.World) (err error) {
	defer w.Quiet(context.Background())
	defer func() { err = w.Quiet(context.Background()) }()
	return w.Quiet(context.WithoutCancel(ctx))
}

func outside(w *pgas.World) error { return w.Barrier(context.Background()) }
