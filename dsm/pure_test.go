package dsm_test

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/pure"
)

// TestProtocolsArePure checks what runs in the simulator as it is.
func TestProtocolsArePure(t *testing.T) {
	pure.Check(t, []string{
		"mutex.go", "rwmutex.go", "event.go", "fence.go",
		"internal/protocol/fetch.go", "internal/protocol/turn.go", "internal/protocol/release.go", "internal/protocol/notice.go",
		"internal/protocol/acquire.go", "internal/protocol/dissemination.go", "internal/protocol/state.go",
		"internal/baseline/baseline.go", "internal/baseline/bitmaps.go", "internal/baseline/fixed.go",
		"internal/baseline/directory.go", "internal/baseline/classified.go", "internal/baseline/uncached.go",
		"internal/baseline/gathering.go",
	})
}
