// Paged opens a region in mode Paged, reads a block and writes it and another one.
package main

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Paged})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[byte](ctx, r, 1<<16)
		if err != nil {
			return err
		}
		s := a.Slice()
		if s[0] != 0 {
			return fmt.Errorf("memory of a new region is %d", s[0])
		}
		s[0], s[1<<15] = 1, 1
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		return r.Close(ctx)
	})
}
