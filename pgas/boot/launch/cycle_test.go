package launch

import (
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// TestLockCycle: a cycle of waits for locks is named once, with its members alone, and nothing else is one.
func TestLockCycle(t *testing.T) {
	in := func(pe int, op boot.BlockedOp, peer int) frame.Blocked {
		return frame.Blocked{PE: pe, Op: op, Peer: peer}
	}
	exited := in(0, boot.InLock, 1)
	exited.Exited = true
	for name, c := range map[string]struct {
		first, second []frame.Blocked // on two hosts
		want          string
	}{
		"two on two hosts":           {[]frame.Blocked{in(0, boot.InLock, 1)}, []frame.Blocked{in(1, boot.InLock, 0)}, "PEs 0-1 wait"},
		"three, and one behind them": {[]frame.Blocked{in(0, boot.InLock, 2), in(1, boot.InLock, 2)}, []frame.Blocked{in(2, boot.InLock, 4), in(4, boot.InLock, 1)}, "PEs 1-2,4 wait"},
		"a queue":                    {[]frame.Blocked{in(0, boot.NotBlocked, -1), in(1, boot.InLock, 0)}, []frame.Blocked{in(2, boot.InLock, 1)}, ""},
		"by a barrier":               {[]frame.Blocked{in(0, boot.InLock, 1)}, []frame.Blocked{in(1, boot.InBarrier, 0)}, ""},
		"a PE's own proxy":           {[]frame.Blocked{in(0, boot.InLock, 0)}, nil, ""},
		"not known":                  {[]frame.Blocked{in(0, boot.InLock, -1)}, []frame.Blocked{in(1, boot.InLock, 0)}, ""},
		"one has ended":              {[]frame.Blocked{exited}, []frame.Blocked{in(1, boot.InLock, 0)}, ""},
	} {
		got := lockCycle(hostsDoing(c.first, c.second))
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
