package launch

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestHostClock: whatever way questions and answers take, and however wrong a host's clock runs, times of its clock are
// turned into the launcher's to within the error that is told.
func TestHostClock(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		offset, drift := r.Int64N(int64(time.Hour))-int64(time.Minute), (r.Float64()-0.5)*1e-4
		// The host's clock, at a time of the launcher's.
		hosts := func(at int64) int64 { return at + offset + int64(drift*float64(at)) }
		h := &host{hostTerm: hostTerm{clock: &HostClock{}}}
		now := int64(time.Hour)
		began := now
		for range 150 {
			now += int64(clockAsk)
			there, back := r.Int64N(int64(2*time.Millisecond)), r.Int64N(int64(2*time.Millisecond))
			if r.IntN(2) == 0 {
				there, back = there/100, back/100
			}
			data := binary.BigEndian.AppendUint64(nil, uint64(now))
			data = binary.BigEndian.AppendUint64(data, uint64(hosts(now+there)))
			h.noteClock(data, now+there+back)
		}
		if n := len(h.clock.Samples); n < 4 || n > 7 {
			t.Fatalf("seed %d: %d samples of 30 s", seed, n)
		}
		most := h.clock.Error()
		if most > 100*time.Microsecond {
			t.Errorf("seed %d: the best of many answers is wrong by up to %v", seed, most)
		}
		first, last := h.clock.Samples[0].At, h.clock.Samples[len(h.clock.Samples)-1].At
		for at := began; at < now; at += int64(time.Second) / 3 {
			there := hosts(at)
			got, ok := h.clock.ToLauncher(there)
			wrong := time.Duration(max(got-at, at-got))
			bound := most + 1
			if there < first || there > last {
				bound *= 6 // beyond the samples the line goes on
			}
			if !ok || wrong > bound {
				t.Fatalf("seed %d: %v after the start, a time is wrong by %v, told %v", seed, time.Duration(at-began), wrong, most)
			}
		}
		if d, e := h.clock.Drift(); d < -drift-e || d > -drift+e {
			t.Errorf("seed %d: the drift is %g ± %g, not %g", seed, d, e, -drift)
		}
	}
}

// TestFalseClocks: answers that no agent gives change nothing.
func TestFalseClocks(t *testing.T) {
	h := &host{hostTerm: hostTerm{clock: &HostClock{}}}
	now := boot.Clock()
	for _, data := range [][]byte{nil, make([]byte, 15), make([]byte, 17), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(now+1)), 5)} {
		h.noteClock(data, now)
	}
	if len(h.clock.Samples) != 0 {
		t.Errorf("the clock is %+v", h.clock)
	}
	if _, ok := h.clock.ToLauncher(now); ok {
		t.Error("a clock of which there is no answer is known")
	}
	(&host{}).noteClock(make([]byte, 16), now) // before its agent was ready
	same := HostClock{Same: true}
	if at, ok := same.ToLauncher(now); at != now || !ok || same.Error() != 0 {
		t.Errorf("the launcher's own clock turns %d into %d", now, at)
	}
}
