package model

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/spin"
)

func TestVault(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "vault", Defines: "FAILURES=1"},
		{Model: "vault", Defines: "IN_PLACE FAILURES=1 SAVES=2"},
	})
}

//ci:weekly
func TestVaultFailures(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "vault", Defines: "FAILURES=1 ERRORS=1"},
		{Model: "vault", Defines: "FAILURES=2 SAVES=2 ERRORS=1"},
		{Model: "vault", Defines: "FAILURES=2 SAVES=3"},
		{Model: "vault", Defines: "HOSTS=3 FAILURES=1 SAVES=1"},
		{Model: "vault", Defines: "IN_PLACE"},
	})
}

//ci:weekly
func TestVaultMutants(t *testing.T) {
	spin.Searches(t, []spin.Run{
		{Model: "vault", Defines: "NO_WAIT FAILURES=1", Bad: true},
		{Model: "vault", Defines: "MARK_FIRST FAILURES=1", Bad: true},
		{Model: "vault", Defines: "KEEPS_MARK FAILURES=1", Bad: true},
		{Model: "vault", Defines: "NO_TERM SAVES=2", Bad: true},
		{Model: "vault", Defines: "ONE_SLOT SAVES=2", Bad: true},
		{Model: "vault", Defines: "ONE_COPY SAVES=2", Bad: true},
		{Model: "vault", Defines: "SAME_HOST SAVES=1", Bad: true},
		{Model: "vault", Defines: "NO_MEND SAVES=1", Bad: true},
		{Model: "vault", Defines: "SAME_VERSION FAILURES=1 ERRORS=1", Bad: true},
		{Model: "vault", Defines: "NO_AGREE SAVES=2", Bad: true},
		{Model: "vault", Defines: "IN_PLACE TAKES_UNSAFE", Bad: true},
	})
}
