package agent

import (
	"reflect"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// TestSampler: what looks at the states of PEs add up to.
func TestSampler(t *testing.T) {
	const ms = time.Millisecond
	start := time.Unix(1000, 0)
	states := []*boot.State{new(boot.State), new(boot.State)}
	s := &sampler{states: states, stop: make(chan struct{}), last: start, pes: make([]sampledPE, 2)}
	for i := range s.pes {
		s.pes[i] = sampledPE{began: start, stats: frame.PEStats{PE: 4 + i, Host: "h"}, waits: map[waitKey]time.Duration{}}
	}
	blocked := func(pe int, op boot.BlockedOp, peer int32, since time.Duration) {
		b := &states[pe].Blocked
		b.Op.Store(uint32(op))
		b.Peer.Store(peer)
		b.Since.Store(start.Add(since).UnixNano())
	}
	s.look(start.Add(ms)) // both compute
	blocked(0, boot.InBarrier, 5, 3*ms)
	blocked(1, boot.InLock, 4, -ms) // since before the first look: only what is new counts
	s.look(start.Add(4 * ms))
	s.look(start.Add(6 * ms))
	blocked(0, boot.NotBlocked, 5, 3*ms)
	blocked(1, boot.InCollective, 5, 6*ms) // which counts the arrivals of all
	s.look(start.Add(8 * ms))
	blocked(1, boot.InQuiet, -1, 20*ms) // a clock that was set back
	s.look(start.Add(9 * ms))
	s.pes[0].ended, s.pes[0].stats.CPU = true, 7*ms
	blocked(0, boot.InBarrier, 5, 9*ms)
	s.look(start.Add(10 * ms)) // the page of a PE that has ended says nothing
	want := []frame.PEStats{
		{PE: 4, Host: "h", CPU: 7 * ms, Waits: []frame.Wait{{In: "barrier", For: -1, Time: 3 * ms}}},
		{PE: 5, Host: "h", Waits: []frame.Wait{{In: "lock", For: 4, Time: 5 * ms}, {In: "collective", For: -1, Time: 2 * ms}, {In: "quiet", For: -1}}},
	}
	if got := s.result(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestSamplerIsBounded: a PE that waits for each of very many PEs takes no more memory than one that waits for some.
func TestSamplerIsBounded(t *testing.T) {
	start := time.Unix(1000, 0)
	p := sampledPE{stats: frame.PEStats{PE: 0}, waits: map[waitKey]time.Duration{}}
	var b boot.Blocked
	b.Op.Store(uint32(boot.InGet))
	b.Since.Store(start.UnixNano())
	const peers = 10 * longestWaits
	for i := range peers {
		b.Peer.Store(int32(i + 1))
		p.add(&b, start.Add(time.Second), time.Millisecond)
	}
	if n := len(p.waits); n > longestWaits+1 {
		t.Errorf("%d sums", n)
	}
	var all time.Duration
	for _, d := range p.waits {
		all += d
	}
	if all != peers*time.Millisecond {
		t.Errorf("the sum is %v", all)
	}
}

// BenchmarkLook is what an agent does every millisecond for the statistics of 64 PEs.
func BenchmarkLook(b *testing.B) {
	const pes = 64
	start := time.Unix(1000, 0)
	s := &sampler{states: make([]*boot.State, pes), last: start, pes: make([]sampledPE, pes)}
	for i := range pes {
		s.states[i] = new(boot.State)
		s.states[i].Blocked.Op.Store(uint32(boot.InBarrier))
		s.states[i].Blocked.Since.Store(start.UnixNano())
		s.pes[i] = sampledPE{stats: frame.PEStats{PE: i}, waits: map[waitKey]time.Duration{}}
	}
	now := start
	for b.Loop() {
		now = now.Add(samplePeriod)
		s.look(now)
	}
	if s.pes[0].waits[waitKey{boot.InBarrier, -1}] == 0 {
		b.Error("nothing was seen")
	}
}
