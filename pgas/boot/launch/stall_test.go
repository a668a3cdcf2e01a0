package launch

import (
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// TestExplainHang: what the tables show is said if all PEs are stalled, and no more than that.
func TestExplainHang(t *testing.T) {
	in := func(pe int, op boot.BlockedOp, peer int) frame.Blocked {
		return frame.Blocked{PE: pe, Op: op, Peer: peer, Stalled: 1}
	}
	moving := in(1, boot.NotBlocked, -1)
	moving.Stalled = 0
	exited := moving
	exited.Exited = true
	for name, c := range map[string]struct {
		rows []frame.Blocked
		want []string
	}{
		"held in a barrier":           {[]frame.Blocked{in(0, boot.InBarrier, 1), in(1, boot.InLock, 0), in(2, boot.InLock, 0)}, []string{"PE 0 waits in a barrier, and has a lock that PE 1-2 waits for"}},
		"behind each other":           {[]frame.Blocked{in(0, boot.InWait, -1), in(1, boot.InLock, 0), in(2, boot.InLock, 1)}, []string{"PE 0 waits in a wait, and has a lock that PE 1 waits", "awaited by PE 0:"}},
		"words":                       {[]frame.Blocked{in(0, boot.InWait, -1), in(1, boot.InBarrier, 0), in(2, boot.InNotify, -1)}, []string{"awaited by PE 0,2:"}},
		"a cycle":                     {[]frame.Blocked{in(0, boot.InLock, 1), in(1, boot.InLock, 0)}, []string{"PEs 0-1 wait for each other's locks"}},
		"one goes on":                 {[]frame.Blocked{in(0, boot.InWait, -1), moving}, nil},
		"one has ended":               {[]frame.Blocked{in(0, boot.InWait, -1), exited}, []string{"awaited by PE 0:"}},
		"a PE's own place in a queue": {[]frame.Blocked{in(0, boot.InLock, 0), in(1, boot.InBarrier, 0)}, nil},
	} {
		lines := strings.Split(strings.TrimSuffix(explainHang([]*host{{table: c.rows[:1]}, {table: c.rows[1:]}}), "\n"), "\n")
		if len(c.want) == 0 && lines[0] == "" {
			continue
		}
		if len(lines) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, lines, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s: %q, want %q", name, lines[i], want)
			}
		}
	}
}
