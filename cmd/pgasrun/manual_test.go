package main

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/internal/manual/manualtest"
)

// The manual pages in docs/use/man are what -h prints.
func TestManualIsFresh(t *testing.T) { manualtest.Fresh(t, described(), "../../docs/use/man") }

// Every flag stands under a heading of -h, and so in the manual page.
func TestEveryFlagIsInHelp(t *testing.T) {
	manualtest.HasFlags(t, described(), new(options).flags())
	manualtest.HasFlags(t, &described().Sub[0], new(doctorOptions).flags())
}
