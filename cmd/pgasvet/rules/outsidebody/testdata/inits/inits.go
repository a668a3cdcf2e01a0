// Package main keeps its own main function, which nobody runs again.
package main

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

var (
	world *pgas.World
	words pgas.Sym[int64]
)

func main() {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err != nil {
		panic(err)
	}
	world = w
	if err := allocate(ctx, w); err != nil {
		panic(err)
	}
	w.Close()
}

func allocate(ctx context.Context, w *pgas.World) (err error) {
	words, err = pgas.Alloc[int64](ctx, w, 1)
	return err
}
