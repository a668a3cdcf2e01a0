package locks_test

// What the lock table is for, in virtual time: the paper's comparison (alock 6.2), with the atomics of NICs
// and CPUs not atomic to each other, so that the other locks go through the NIC on their own host too.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A workload is locks that are taken and given back at once, at random.
type workload struct {
	hosts, each int // PEs of a host
	locks       int
	locality    float64
}

func (l workload) String() string {
	return fmt.Sprintf("%d hosts, %d PEs each, %d locks, %.0f%% local", l.hosts, l.each, l.locks, 100*l.locality)
}

// rate is how many locks were taken and given back in a second of virtual time.
func (l workload) rate(ctx context.Context, o locks.TableOptions, rounds int) (float64, error) {
	npes := l.hosts * l.each
	var began, ended time.Duration
	cfg := sim.Config{Topology: fmt.Sprintf("host:%d", l.each), Atomics: sim.Split}
	_, err := sim.Run(ctx, cfg, npes, func(ctx context.Context, w *pgas.World) error {
		t, err := locks.AllocTable(ctx, w, l.locks, o)
		if err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		began = w.Now()
		for range rounds {
			lock := t.Lock(t.Pick(l.locality))
			if err := lock.Lock(ctx); err != nil {
				return err
			}
			lock.Unlock()
		}
		ended = max(ended, w.Now())
		return nil
	})
	return float64(rounds*npes) / (ended - began).Seconds(), err
}

// TestTableRates: ALocks are ahead of both others, more so the more is local, and far ahead if all is.
func TestTableRates(t *testing.T) {
	needsLong(t)
	const rounds = 60
	for _, c := range []struct {
		load  workload
		ahead float64 // of both others, at least
	}{
		{workload{5, 8, 20, 0.85}, 1},
		{workload{5, 8, 20, 0.95}, 1.5},
		{workload{5, 8, 1000, 0.95}, 1.5},
		{workload{5, 8, 1000, 1}, 10},
	} {
		t.Run(c.load.String(), func(t *testing.T) {
			rates := map[string]float64{}
			for _, k := range tableKinds {
				rate, err := c.load.rate(t.Context(), locks.TableOptions{Kind: k.kind}, rounds)
				if err != nil {
					t.Fatal(err)
				}
				rates[k.name] = rate
				t.Logf("%-5s %8.2f M/s", k.name, rate/1e6)
			}
			for _, other := range []string{"MCS", "spin"} {
				if ratio := rates["ALock"] / rates[other]; ratio < c.ahead {
					t.Errorf("ALock over %s: %.2f, want at least %v", other, ratio, c.ahead)
				}
			}
		})
	}
}
