package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

func TestJournal(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "journal", Defines: "FAILURES=2"},
	})
}

//ci:weekly
func TestJournalFailures(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "journal", Defines: "FAILURES=2 SAVES=3"},
		{Model: "journal", Defines: "FAILURES=3"},
	})
}

//ci:weekly
func TestJournalMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "journal", Defines: "ACKS_EARLY FAILURES=1", Bad: true},
		{Model: "journal", Defines: "NO_SYNC FAILURES=1", Bad: true},
		{Model: "journal", Defines: "TURNS_EARLY FAILURES=2", Bad: true},
		{Model: "journal", Defines: "FIRST_EARLY FAILURES=1", Bad: true},
		{Model: "journal", Defines: "NO_AGREE FAILURES=2", Bad: true},
		{Model: "journal", Defines: "ONE_AREA FAILURES=1", Bad: true},
		{Model: "journal", Defines: "ONE_JOURNAL FAILURES=1", Bad: true},
		{Model: "journal", Defines: "SKIPS_TORN FAILURES=1", Bad: true},
		{Model: "journal", Defines: "ONE_TAG FAILURES=2", Bad: true},
		{Model: "journal", Defines: "NO_AGENT FAILURES=1", Bad: true},
		{Model: "journal", Defines: "TAKES_UNSAFE FAILURES=2", Bad: true},
	})
}
