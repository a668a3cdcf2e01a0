package dsm

import (
	"context"
	"hash/fnv"

	"github.com/gopgas/gopgas/pgas"
)

func agree(ctx context.Context, w *pgas.World, op, what string) error {
	h := fnv.New64a()
	h.Write([]byte(op + what))
	s, err := pgas.AllocLayout[byte](ctx, w, 0, pgas.Layout{Name: what, Hash: h.Sum64()})
	if err != nil {
		return err
	}
	return s.Free(ctx)
}

func atClose(w *pgas.World, f func() error) {}
