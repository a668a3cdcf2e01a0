//go:build !cgo

package ucx

import (
	"errors"
	"strings"
	"testing"
)

func TestNotBuilt(t *testing.T) {
	if Available {
		t.Error("Available without cgo")
	}
	if _, err := NewContext(Params{}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("NewContext: %v", err)
	}
	for _, part := range []string{"libucx-dev", "CGO_ENABLED=1"} {
		if !strings.Contains(ErrNotBuilt.Error(), part) {
			t.Errorf("no %q in %q", part, ErrNotBuilt)
		}
	}
}
