package dsm_test

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/pure"
)

// TestProtocolsArePure checks what runs in the simulator as it is.
func TestProtocolsArePure(t *testing.T) {
	pure.Check(t, []string{
		"version.go", "turn.go", "release.go", "notice.go", "acquire.go", "barrier.go", "mutex.go", "rwmutex.go", "event.go", "fence.go",
		"fixed.go", "directory.go", "classified.go", "uncached.go",
	})
}
