package containers

// Giving back the memory of a container.

import (
	"context"
	"fmt"
)

// freeAll frees the memory of a container, for the call op.
func freeAll(ctx context.Context, op string, mem *memory) error {
	if ctx == nil {
		misuse(op, "the context is nil: pass the one that the body of Main gets, or context.Background()")
	}
	if err := mem.free(ctx); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
