//go:build !cgo

package ucp

import (
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

func TestNoCgo(t *testing.T) {
	_, err := Open(t.Context(), &boot.Job{}, Settings{})
	if err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=1") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v", err)
	}
}
