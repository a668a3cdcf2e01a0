package launch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestTermsSimulated: PEs, agents and relays are killed at random moments, several of them at once now and then. All
// PEs are started again each time, and the job ends well when nobody is killed any more. No host is lost twice in a
// row.
func TestTermsSimulated(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testTerms(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func testTerms(t *testing.T, r *rand.Rand) {
	s := newSimulation()
	s.linger = time.Second
	const pes, most = 2, 6
	hosts := []int{2, 3, 7, 20}[r.IntN(4)]
	spec := s.spec(hosts, pes, 2)
	spec.Survive = most
	kills, done := r.IntN(most), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		lost := map[string]bool{}
		for range kills {
			for !s.allStay(hosts * pes) {
				if time.Sleep(latency); ctx.Err() != nil { // in simulated time, for the PEs to find each other
					return
				}
			}
			time.Sleep(time.Duration(r.IntN(900)) * time.Millisecond) // the PEs stay for longer
			lost = s.killSome(r, 1+r.IntN(3), lost)
			time.Sleep(latency) // for the PEs that were killed to be gone
		}
	}()
	res, err := Run(t.Context(), spec)
	cancel()
	<-done
	if err != nil || res.Status != 0 || res.First != nil || res.Recoveries != kills {
		t.Errorf("%d hosts, %d kills: %+v, %v", hosts, kills, res, err)
	}
	s.checkEnded(t)
}

// TestTermsCancelled: a job whose PEs and hosts are lost again and again ends when its context does, also at a moment
// when a host has just been lost.
func TestTermsCancelled(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 20
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testCancelled(t, rand.New(rand.NewPCG(seed, 2))) })
		})
	}
}

func testCancelled(t *testing.T, r *rand.Rand) {
	s := newSimulation()
	s.linger = time.Hour
	spec := s.spec(2+r.IntN(5), 2, 2)
	spec.Survive = 1 << 20
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for range 1 + r.IntN(3) {
			for !s.allStay(2 * len(spec.Hosts)) {
				time.Sleep(latency) // in simulated time, for the PEs to find each other
			}
			time.Sleep(calmTime) // a host may be lost again then
			left := s.processesLeft()
			left[r.IntN(len(left))].signalled(unix.SIGKILL)
			time.Sleep(time.Duration(1 + r.Int64N(int64(20*latency)))) // the moment of the next kill, or of the end
		}
		cancel(errEnough)
	}()
	res, err := Run(ctx, spec)
	if ctx.Err() == nil || err == nil {
		t.Errorf("it has ended with %+v, %v", res, err)
	}
	s.checkEnded(t)
}

// allStay reports whether so many PEs have found each other, and stay.
func (s *simulation) allStay(pes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lingering == pes
}

// processesLeft returns the agents and relays that have greeted and have not ended. A command that ends before is not
// one that can run there.
func (s *simulation) processesLeft() (left []*simProcess) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.processes {
		select {
		case <-p.ended:
		default:
			if time.Since(p.begun) > 2*latency {
				left = append(left, p)
			}
		}
	}
	return left
}

// killSome kills some PEs, agents or relays. It leaves the agents and relays of some hosts alone, and returns the hosts
// of those that it has killed.
func (s *simulation) killSome(r *rand.Rand, n int, spared map[string]bool) (lost map[string]bool) {
	lost = map[string]bool{}
	left := s.processesLeft()
	for _, i := range r.Perm(len(left)) {
		p := left[i]
		p.mu.Lock()
		var pids []int
		for pid := range p.pes {
			pids = append(pids, pid)
		}
		p.mu.Unlock()
		slices.Sort(pids)
		switch {
		case n == 0:
			return lost
		case (r.IntN(3) == 0 || len(pids) == 0) && !spared[p.node.host]:
			lost[p.node.host] = true
			p.signalled(unix.SIGKILL)
			n--
		case len(pids) > 0:
			p.Signal(pids[r.IntN(len(pids))], unix.SIGKILL)
			n--
		}
	}
	return lost
}
