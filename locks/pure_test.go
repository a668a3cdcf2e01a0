package locks_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/pure"
)

// Outside of the protocols: what the goroutines of a PE do among themselves, and pauses.
var helpers = []string{"localgate.go", "poll.go", "service.go", "service_host.go"}

// TestProtocolsArePure checks what runs in the simulator as it is.
func TestProtocolsArePure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	pure.Check(t, slices.DeleteFunc(files, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_pgas.go") || slices.Contains(helpers, name)
	}))
}
