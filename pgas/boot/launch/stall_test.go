package launch

import (
	"bytes"
	"io"
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
		lines := strings.Split(strings.TrimSuffix(explainHang(hostsDoing(c.rows[:1], c.rows[1:])), "\n"), "\n")
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

// TestStallToldOnce: a stall is told when two tables of every host show it, and each PE has looked twice in between. It
// is told once, however long it lasts. A PE that does not look has been woken, or has no CPU.
func TestStallToldOnce(t *testing.T) {
	var said bytes.Buffer
	spec := Spec{Hosts: []boot.Host{{Name: "a", PEs: 1}, {Name: "b", PEs: 1, First: 1}}, Program: "/bin/true", Stdout: io.Discard, Stderr: &said}
	if err := spec.complete(); err != nil {
		t.Fatal(err)
	}
	j, err := newJob(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range j.hosts {
		h.send, h.started, h.stalled = frame.NewSender(io.Discard), true, true
	}
	counts := []uint32{1, 1}
	look := func() {
		if j.lookForStall(); !j.stall.asked {
			return
		}
		for i, h := range j.hosts {
			h.table, h.tableRequested = []frame.Blocked{{PE: i, Op: boot.InWait, Peer: -1, Stalled: counts[i]}}, false
		}
		j.stallTablesArrived()
	}
	for range 100 { // PE 1 does not look
		look()
		counts[0] += 2
	}
	if said.Len() > 0 {
		t.Errorf("a PE that does not look is told to be stalled: %s", &said)
	}
	for range 100 {
		look()
		counts[0] += 2
		counts[1] += 2
	}
	if n := strings.Count(said.String(), "nothing has moved"); n != 1 {
		t.Errorf("%d reports: %s", n, &said)
	}
}
