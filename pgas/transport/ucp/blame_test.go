//go:build cgo

package ucp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/ucx/engine"
)

// TestBlame: a PE that loses another names the failure that came first, as far as its host knows.
func TestBlame(t *testing.T) {
	for _, c := range []struct {
		name     string
		reported map[int]int // the PE whose loss was reported to a PE of this host
		died     int         // the PE that the launcher has seen die, or -1
		want     int
		says     string
	}{
		{name: "nothing else is known", died: -1, want: 0},
		{name: "the launcher names it too", died: 0, want: 0, says: "the launcher says"},
		{name: "the launcher names another", died: 3, want: 3, says: "since then PE 0 is lost too"},
		{name: "another PE of the host has lost it too", reported: map[int]int{4: 0}, died: -1, want: 0},
		{name: "another PE of the host has lost another", reported: map[int]int{4: 3}, died: -1, want: 3, says: "PE 4 has lost it; since then PE 0 is lost too"},
		{name: "this PE has lost another before", reported: map[int]int{4: 2, 5: 3}, died: -1, want: 3, says: "PE 5 has lost it"},
		{name: "the launcher goes before the host", reported: map[int]int{4: 2}, died: 3, want: 3, says: "since then PE 0 is lost too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBlame(t)
			job := *b.job
			for pe, lost := range c.reported {
				job.PE = pe
				job.Lost(lost)
			}
			if c.died >= 0 {
				b.job.Segment.Fail(c.died, 9)
			}
			lost := &engine.LostError{PE: 0, Reason: engine.Gone, Status: "Endpoint is not connected"}
			got := b.peerError(t.Context(), lost)
			if got.PE != c.want || got.Host != "a" {
				t.Errorf("blames PE %d on host %s, want PE %d on host a: %v", got.PE, got.Host, c.want, got)
			}
			if !strings.Contains(got.Error(), c.says) || !errors.Is(got, lost) {
				t.Errorf("%q says nothing like %q, or hides what the engine saw", got, c.says)
			}
		})
	}
}

// TestSilenceIsHeard: a PE that has found another silent waits for the launcher to say which of the two is lost, until
// its call is given up or the job ends. One that leaves the job does not, nor does one whose peer has closed a
// connection.
func TestSilenceIsHeard(t *testing.T) {
	silent := &engine.LostError{PE: 0, Reason: engine.Silent}
	for name, c := range map[string]struct {
		lost       *engine.LostError
		membership boot.Membership
		during     func(b *blame, cancel func()) // while the PE waits
		want       int
	}{
		"the launcher names another": {silent, boot.Joined, func(b *blame, _ func()) { b.job.Segment.Fail(3, 9) }, 3},
		"the call is given up":       {silent, boot.Joined, func(_ *blame, cancel func()) { cancel() }, 0},
		"the job ends":               {silent, boot.Joined, func(b *blame, _ func()) { b.job.Segment.Header.EndRequested.Store(1) }, 0},
		"the PE leaves":              {silent, boot.Left, nil, 0},
		"a connection ends":          {&engine.LostError{PE: 0, Reason: engine.Gone}, boot.Joined, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b := newBlame(t)
			b.job.Settings.PeerTimeout = 10 * time.Hour // of a wait that does not end by itself
			b.job.Segment.States[1].Membership.Store(uint32(c.membership))
			var happened atomic.Bool
			if c.during != nil {
				time.AfterFunc(2*reportWithin, func() {
					happened.Store(true)
					c.during(b, cancel)
				})
			}
			ended, end := context.WithCancel(ctx)
			end()
			b.peerError(ended, c.lost) // a call that is given up before takes nothing from others
			if _, decided := b.fault(ended, c.lost); decided {
				t.Error("a call that waits for nothing knows which PE to blame")
			}
			if got := b.peerError(ctx, c.lost); got.PE != c.want {
				t.Errorf("blames PE %d, want PE %d: %v", got.PE, c.want, got)
			}
			if c.during != nil && !happened.Load() {
				t.Error("it has not waited for that")
			}
		})
	}
}

// newBlame returns what PE 5 of a job has, the second PE of its host b. Hosts have four PEs and two.
func newBlame(t *testing.T) *blame {
	const npes, heapMax = 6, 2 << 20
	file, err := boot.CreateSegment(npes, 4, 2, 1, heapMax)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	segment, err := boot.MapSegment(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { segment.Close() })
	hosts := []boot.Host{{Name: "a", First: 0, PEs: 4}, {Name: "b", First: 4, PEs: 2}}
	return &blame{job: &boot.Job{PE: 5, NPEs: npes, Hosts: hosts, HostIndex: 1, Segment: segment, Launched: true}}
}
