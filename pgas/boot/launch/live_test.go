package launch

import (
	"context"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// awaitSnapshot returns the first Snapshot of which ok holds.
func awaitSnapshot(t *testing.T, now func() Snapshot, ok func(Snapshot) bool) Snapshot {
	t.Helper()
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	for {
		s := now()
		if ok(s) {
			return s
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the last snapshot is %+v", s)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestLive: while PEs of any host wait, a Snapshot says in what, for whom and what they have recorded; when they have
// ended, how; and the function goes on to work.
func TestLive(t *testing.T) {
	for name, hosts := range layouts {
		t.Run(name, func(t *testing.T) {
			spec, _ := testSpec(t, "block and record", hosts...)
			ctx, cancel := context.WithCancel(bounded(t))
			defer cancel()
			got := make(chan func() Snapshot, 1)
			spec.Live = func(now func() Snapshot) { got <- now }
			ended := make(chan error, 1)
			go func() {
				_, err := Run(ctx, spec)
				ended <- err
			}()
			now := <-got
			s := awaitSnapshot(t, now, func(s Snapshot) bool {
				for _, p := range s.PEs {
					if p.In != "lock" || len(p.Peers) != 1 {
						return false
					}
				}
				return true
			})
			for pe, p := range s.PEs {
				if p.PE != pe || !p.Known || p.Ended || p.For != 1 || p.Seq != 4096 || p.Name != "Table.Lock" || p.Site != "main.go:7" || p.Process <= 0 || p.Memory == 0 || p.Time <= 0 || p.Blocked() < p.Time {
					t.Errorf("PE %d: %+v", pe, p)
				}
				if c := p.Peers[0]; c.Peer != 0 || c.Ops[record.Put] != uint64(pe+1) || c.Bytes[record.Put] != uint64(100*(pe+1)) || p.Counters[record.HeapInUse] != 77 {
					t.Errorf("PE %d has recorded %+v, %v", pe, c, p.Counters)
				}
				if h := s.Hosts[p.Host]; h.State != "running" || pe < h.First || pe >= h.First+h.PEs {
					t.Errorf("PE %d is on host %+v", pe, h)
				}
			}
			cancel()
			if err := <-ended; err == nil {
				t.Error("a job that was cancelled says that it was not")
			}
			if s = now(); !s.Ended {
				t.Errorf("after the end: %+v", s)
			}
			for pe, p := range s.PEs {
				if !p.Ended || p.Status == 0 || p.In != "" || p.CPU == 0 || len(p.Peers) != 1 {
					t.Errorf("PE %d after its end: %+v", pe, p)
				}
			}
		})
	}
}

// TestLiveOfFailure: a PE that fails early is told of with its status.
func TestLiveOfFailure(t *testing.T) {
	spec, _ := testSpec(t, "fail", three...)
	var now func() Snapshot
	spec.Live = func(n func() Snapshot) { now = n }
	if res, err := Run(bounded(t), spec); err != nil || res.Status != 7 {
		t.Fatalf("%+v, %v", res, err)
	}
	s := now()
	if !s.Ended || s.Hosts[0].State != "ended" || !s.PEs[1].Ended || s.PEs[1].Status != 7 {
		t.Errorf("%+v", s)
	}
}

// TestLiveTrustsNoHost: an answer of one host says nothing of another's PEs, and nonsense nothing at all.
func TestLiveTrustsNoHost(t *testing.T) {
	hosts := []*host{{Host: boot.Host{Name: "a", PEs: 1}}, {Host: boot.Host{Name: "b", First: 1, PEs: 1}, index: 1}}
	l := newLive(hosts)
	l.note(hosts[1], []PEState{{PE: 0, In: "lock"}, {PE: -1}, {PE: 2}, {PE: 1, Host: 77, In: "wait"}})
	s := l.snapshot()
	if s.PEs[0].In != "" || s.PEs[1].In != "wait" || s.PEs[1].Host != 1 || len(s.PEs) != 2 || s.Hosts[0].Age != 0 {
		t.Errorf("%+v", s)
	}
	j := &job{live: l, closed: make(chan struct{})}
	j.handle(event{host: hosts[1], frame: frame.FromLive, data: []byte("nonsense")})
	l.noteDeath(frame.Death{PE: 5, Process: 1})
	l.noteDeath(frame.Death{PE: -1, Process: 1})
}

// TestLiveAnswerComesLate: an answer from before the end of a PE, which arrives when that is known, does not bring the
// PE back.
func TestLiveAnswerComesLate(t *testing.T) {
	h := &host{Host: boot.Host{Name: "a", PEs: 2}}
	l := newLive([]*host{h})
	running := []PEState{{PE: 0, Known: true, Op: boot.InLock, In: "lock"}, {PE: 1, Known: true, Op: boot.InLock, In: "lock"}}
	l.note(h, running)
	l.noteDeath(frame.Death{PE: 1, Process: 7, Status: 9})
	l.note(h, running)
	if s := l.snapshot(); s.PEs[0].Ended || !s.PEs[1].Ended || s.PEs[1].In != "" || s.PEs[1].Status != 137 {
		t.Errorf("%+v", s.PEs)
	}
	l.note(h, []PEState{{PE: 1, Known: true, Ended: true, Status: 137, Memory: 5}})
	if s := l.snapshot(); s.PEs[1].Memory != 5 {
		t.Errorf("the last answer was not noted: %+v", s.PEs[1])
	}
}
