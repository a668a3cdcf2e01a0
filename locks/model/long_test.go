package model

import (
	"flag"
	"testing"
)

// The searches that take minutes run on demand only; a short form of each protocol's is always run.
var long = flag.Bool("long", false, "run what takes minutes too")

func needsLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes minutes: `go test ./locks/... -timeout 1h -long` runs it")
	}
}
