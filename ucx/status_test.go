package ucx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestStatusIsAnError(t *testing.T) {
	err := fmt.Errorf("job: %w", &Error{Op: "put", Status: ErrUnreachable, Detail: "over tcp"})
	if !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNoDevice) {
		t.Error("errors.Is does not see the status")
	}
	var status Status
	if !errors.As(err, &status) || status != ErrUnreachable {
		t.Errorf("errors.As finds %v", status)
	}
	if got, want := err.Error(), "job: ucx: put: peer is unreachable: over tcp"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if OK.Err() != nil || InProgress.Err() != nil || ErrIO.Err() != ErrIO {
		t.Error("Err is not the failure")
	}
}

func TestStatusText(t *testing.T) {
	for s := Status(1); s >= -100; s-- {
		text := s.Error()
		if text == "" || text != strings.ToLower(text) || strings.ContainsAny(text, "\n.") {
			t.Errorf("status %d: %q", s, text)
		}
		if s.IsLinkFailure() && s.IsEndpointFailure() {
			t.Errorf("status %d is in two ranges", s)
		}
	}
	for s, want := range map[Status]string{-45: "link failed", -70: "endpoint failed", -30: "unknown status", ErrEndpointTimeout: "peer stopped answering"} {
		if got := s.Error(); got != want {
			t.Errorf("status %d is %q, want %q", s, got, want)
		}
	}
}

func TestAtomicNames(t *testing.T) {
	seen := map[string]bool{}
	for op := range numAtomicOps {
		seen[op.String()] = true
	}
	if len(seen) != int(numAtomicOps) || AtomicOp(77).String() != "unknown" {
		t.Errorf("names: %v", seen)
	}
}
