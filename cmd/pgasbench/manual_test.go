package main

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/internal/manual/manualtest"
)

// The manual pages in docs/use/man are what -h prints.
func TestManualIsFresh(t *testing.T) { manualtest.Fresh(t, commands(), "../../docs/use/man") }
