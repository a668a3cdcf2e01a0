package launch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
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
	if hosts == 20 && s.outlived < kills { // of 40 PEs many are left
		t.Errorf("processes have outlived a term %d times in %d kills", s.outlived, kills)
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

// TestStopsBetweenTerms: a SIGTERM while the PEs of a term are ended or started is a stop, if a directory has the cuts.
// The second one kills.
func TestStopsBetweenTerms(t *testing.T) {
	const a, b = "node000000", "node000001"
	const newest = ": SIGTERM ends the job; when it is started again it goes on from its newest cut, if there is one"
	for _, test := range []struct {
		name      string
		directory bool
		do        func(j *simulated, signals chan<- os.Signal)
		status    int
		err       string
		first     int // the status of the PE that is reported; 0: none
		said      []string
	}{
		{"PEs are killed", true, func(j *simulated, signals chan<- os.Signal) {
			j.beginEnd(a)
			signals <- unix.SIGTERM
		}, boot.StopStatus, "", 0, []string{"PE 0 on host " + a + " (process 1) was killed by signal 9 (SIGKILL)" + newest}},
		{"PEs are killed, no directory", false, func(j *simulated, signals chan<- os.Signal) {
			j.beginEnd(a)
			signals <- unix.SIGTERM
		}, 137, "", 137, nil},
		{"another signal", true, func(j *simulated, signals chan<- os.Signal) {
			j.beginEnd(a)
			signals <- unix.SIGINT
		}, 137, "", 137, nil},
		{"twice", true, func(j *simulated, signals chan<- os.Signal) {
			j.beginEnd(a)
			signals <- unix.SIGTERM
			signals <- unix.SIGTERM
		}, 143, "", 137, nil},
		{"PEs are started", true, func(j *simulated, signals chan<- os.Signal) {
			j.loseSilently(b)
			signals <- unix.SIGTERM
		}, boot.StopStatus, "", 0, []string{"host " + b + " is lost" + again, "got terminated before all PEs had started" + newest}},
		{"PEs are started, twice", true, func(j *simulated, signals chan<- os.Signal) {
			j.loseSilently(b)
			signals <- unix.SIGTERM
			signals <- unix.SIGTERM
		}, 143, "stopped by a signal (terminated) before the PEs had started", 0,
			[]string{"host " + b + " is lost" + again, "got terminated before all PEs had started" + newest}},
		{"PEs are started, no directory", false, func(j *simulated, signals chan<- os.Signal) {
			j.loseSilently(b)
			signals <- unix.SIGTERM
		}, 143, "stopped by a signal (terminated) before the PEs had started", 0, []string{"host " + b + " is lost" + again}},
		{"PEs have only begun", true, func(j *simulated, signals chan<- os.Signal) {
			signals <- unix.SIGTERM
		}, boot.StopStatus, "", 0, []string{"the PEs have ended before they could save" + newest}},
		{"the bodies end", true, func(j *simulated, signals chan<- os.Signal) {
			j.sayWhy(a, b)
			signals <- unix.SIGTERM
		}, 1, "", 1, nil},
		{"the bodies of a later term end", true, func(j *simulated, signals chan<- os.Signal) {
			j.kill(b)
			j.sayWhy(a, b)
			signals <- unix.SIGTERM
		}, boot.StopStatus, "", 0, []string{"host " + b + " is lost" + again, "the PEs have ended before they could save" + newest}},
		{"PEs have only begun, no directory", false, func(j *simulated, signals chan<- os.Signal) {
			signals <- unix.SIGTERM
		}, 143, "", 143, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan os.Signal)
				j := beginChanged(t, func(s *simulation) { s.fault[a] = endsLate }, func(s *Spec) {
					s.Signals = signals
					if test.directory {
						s.Env = append(s.Env, boot.EnvCheckpoint+"=cuts")
					}
				})
				test.do(j, signals)
				j.end(test.err, []string{a, b}, test.said...)
				if first := j.res.First; j.res.Status != test.status || (first == nil) != (test.first == 0) || first != nil && first.death.ExitStatus() != test.first {
					t.Errorf("it ends with status %d and %v", j.res.Status, first)
				}
			})
		})
	}
}

// TestSilentAtEnd: the command of an agent that does not end with the job is killed.
func TestSilentAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = "node000000", "node000001"
		j := beginSimulated(t, func(s *simulation) { s.fault[b] = neverEnds })
		j.end("", []string{a, b})
		if j.res.Status != 0 {
			t.Errorf("it ends with status %d", j.res.Status)
		}
	})
}

// sayWhy has the PEs of hosts say why they end.
func (j *simulated) sayWhy(hosts ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, host := range hosts {
		j.fault[host] = saysWhy
	}
}

// loseSilently kills the agent of a host where no other one starts after it, and returns when the next term waits for
// one.
func (j *simulated) loseSilently(host string) {
	j.mu.Lock()
	j.fault[host] = neverGreets
	j.mu.Unlock()
	j.running(host).signalled(unix.SIGKILL)
	time.Sleep(31 * time.Second) // in simulated time: the launcher gives up sweeping after 30 s
}

// allStay reports whether so many PEs have found each other, and stay; 0 stands for those of the last term.
func (s *simulation) allStay(pes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pes == 0 {
		pes = max(s.npes, 1)
	}
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
