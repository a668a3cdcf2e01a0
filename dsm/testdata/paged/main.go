// Paged opens a region in mode Paged.
package main

import (
	"context"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		_, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Paged})
		return err
	})
}
