package dropped

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Literals of tests that expect a panic.
func panics(ctx context.Context, w *pgas.World) []func() {
	return []func(){
		func() { w.Barrier(nil) },
		func() {
			w.Fence()
			w.Barrier(ctx) // want `the error of World.Barrier is dropped`
		},
	}
}
