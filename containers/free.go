package containers

// Giving back the memory of a container.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/carry"
)

// freeMemory frees the memory of a container, for the call op.
func freeMemory(ctx context.Context, op string, mem *carry.Memory) error {
	return freeAll(ctx, op, mem.Free)
}

// freeAll frees the parts of a container, for the call op. It stops at the first error.
func freeAll(ctx context.Context, op string, frees ...func(context.Context) error) error {
	carry.MustHaveContext(op, ctx)
	for _, free := range frees {
		if err := free(ctx); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}
