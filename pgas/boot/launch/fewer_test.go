package launch

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

// onHosts returns hosts of some PEs each.
func onHosts(pes ...int) (all []boot.Host) {
	for i, n := range pes {
		all = append(all, boot.Host{Name: string(rune('a' + i)), PEs: n})
	}
	return all
}

// beginFewer starts a job that may go on with fewer hosts.
func beginFewer(t *testing.T, prepare func(*simulation), least int, hosts []boot.Host, more func(*Spec)) *simulated {
	return beginChanged(t, prepare, func(s *Spec) {
		s.Hosts, s.SurviveMin = hosts, least
		if more != nil {
			more(s)
		}
	})
}

// endWell is end for a job that ends well.
func (j *simulated) endWell(places string, said ...string) {
	j.t.Helper()
	j.end("", strings.Fields(places), said...)
	if j.res.Status != 0 || j.res.First != nil || len(j.errs) > 0 {
		j.t.Errorf("it ends with status %d, %v, %v", j.res.Status, j.res.First, j.errs)
	}
}

// TestFewerHosts: which hosts a job goes on without, and with how many PEs.
func TestFewerHosts(t *testing.T) {
	const on = ": the job goes on with "
	for name, test := range map[string]func(*testing.T){
		"the last host": func(t *testing.T) {
			j := beginFewer(t, nil, 2, onHosts(4, 2), nil)
			j.kill("b")
			j.endWell("a", "pgasrun: host b is lost: the job goes on with 4 PEs on 1 host (1 of 20 times)")
		},
		"the first host": func(t *testing.T) {
			j := beginFewer(t, nil, 1, onHosts(1, 2, 3), nil)
			j.kill("a")
			j.kill("b")
			j.endWell("c", "host a is lost"+on+"5 PEs on 2 hosts (1 of", "host b is lost"+on+"3 PEs on 1 host (2 of")
		},
		"of the address, only the first host": func(t *testing.T) {
			j := beginFewer(t, nil, 1, onHosts(1, 2, 3), func(s *Spec) { s.BootAddr = "a" })
			if j.serves != "a" {
				t.Errorf("the exchange is served at %q", j.serves)
			}
			j.kill("a")
			if j.serves != "" {
				t.Errorf("without the first host the exchange is served at %q", j.serves)
			}
			j.endWell("b c", on)
		},
		"8, 6 and 4 hosts": func(t *testing.T) {
			j := beginFewer(t, nil, 8, onHosts(2, 2, 2, 2, 2, 2, 2, 2), nil)
			for _, two := range []string{"bh", "ac"} {
				j.running(two[:1]).signalled(unix.SIGKILL)
				j.kill(two[1:])
			}
			j.endWell("d e f g", on+"12 PEs on 6 hosts, without ", on+"8 PEs on 4 hosts, without ")
		},
		"spares first": func(t *testing.T) {
			j := beginFewer(t, nil, 2, onHosts(2, 3, 2), func(s *Spec) { s.Spares = spares(2) })
			j.kill("b") // the spare is too small
			j.kill("c")
			j.kill("a")
			j.endWell("spare00", "host b is lost"+on+"4 PEs on 2 hosts", "host c is lost: spare00 takes its place: all PEs are started again", "host a is lost"+on+"2 PEs on 1 host")
		},
		"a spare and fewer hosts at once": func(t *testing.T) {
			j := beginFewer(t, nil, 2, onHosts(2, 2, 2), func(s *Spec) { s.Spares = spares(2) })
			j.running("a").signalled(unix.SIGKILL)
			j.kill("b")
			j.endWell("spare00 c", "spare00 takes ") // whichever the launcher sees first
			if said := j.said.String(); !strings.Contains(said, on+"4 PEs on 2 hosts") {
				t.Errorf("it says %s", said)
			}
		},
		"below the least": func(t *testing.T) {
			j := beginFewer(t, nil, 4, onHosts(2, 2, 2), nil)
			j.kill("b")
			j.kill("c")
			j.kill("a")
			j.kill("a")
			j.end("host a was lost in 2 terms in a row", []string{"a", "c"}, "host b is lost"+on+"4 PEs on 2 hosts", "host c is lost"+again, "host a is lost"+again)
		},
		"its PEs are killed": func(t *testing.T) {
			j := beginFewer(t, nil, 2, onHosts(2, 2), nil)
			j.killPE("a", 0)
			j.killPE("a", 1)
			j.killPE("a", 0)
			j.endWell("b", again, again, "PE 0 on host a (process 4) was killed by signal 9 (SIGKILL): the job goes on with 2 PEs on 1 host, without a (3 of 20 times)")
		},
		"the PEs of the last host are killed": func(t *testing.T) {
			j := beginFewer(t, nil, 1, onHosts(2), nil)
			for range 4 {
				j.killPE("a", 0)
			}
			j.endWell("a", again, again, again, again)
		},
		"a spare never answers": func(t *testing.T) {
			j := beginFewer(t, func(s *simulation) { s.fault["spare00"] = neverGreets }, 2, onHosts(2, 2), func(s *Spec) { s.Spares = spares(2) })
			j.kill("b")
			j.endWell("a", "host b is lost: spare00 takes its place"+again, "host spare00 has not answered within 30s")
		},
		"it cannot be started again": func(t *testing.T) {
			j := beginFewer(t, nil, 4, onHosts(2, 2, 2), nil)
			j.kill("b")
			j.mu.Lock()
			j.fault["c"] = greetsOlder
			j.mu.Unlock()
			j.kill("c")
			j.end("host c: its pgasrun is older", []string{"a", "c"}, "host b is lost"+on, "host c is lost"+again)
		},
		"its processes are killed": func(t *testing.T) {
			j := beginFewer(t, func(s *simulation) { s.fault["b"] = neverEnds }, 2, onHosts(2, 2), nil)
			for range mostKills {
				j.killPE("b", 2)
			}
			j.endWell("a", again, again, "without b (3 of")
		},
		"one that is not lost is not dropped": func(t *testing.T) {
			j := beginFewer(t, nil, 1, onHosts(2, 2), nil)
			j.killPE("b", 2)
			j.endWell("a b", again+"1 of 20 times)")
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// TestFewerHostsSeen: the snapshots of a job that goes on with fewer hosts have these hosts and their PEs.
func TestFewerHostsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now func() Snapshot
		j := beginFewer(t, nil, 1, onHosts(1, 2, 3), func(s *Spec) {
			s.Live = func(f func() Snapshot) { now = f }
		})
		j.kill("b")
		s := now()
		var seen []string
		for _, h := range s.Hosts {
			seen = append(seen, fmt.Sprint(h.Name, h.First, h.PEs, h.State))
		}
		for _, p := range s.PEs {
			seen = append(seen, fmt.Sprint(p.PE, p.Host))
		}
		if want := []string{"a0 1running", "c1 3running", "0 0", "1 1", "2 1", "3 1"}; !slices.Equal(seen, want) {
			t.Errorf("it shows %q, and not %q", seen, want)
		}
		j.endWell("a c", "host b is lost: the job goes on with 4 PEs on 2 hosts")
		if s := now(); len(s.PEs) != 4 || slices.ContainsFunc(s.PEs, func(p PEState) bool { return !p.Known || !p.Ended }) {
			t.Errorf("in the end it shows %+v", s.PEs)
		}
	})
}

// TestFewerHostsSimulated: PEs, agents and relays are killed at random moments, also before all hosts are ready for the
// next term. A host that has no spare is dropped while enough PEs are left, and never comes back. All agents of a term
// are told the same, and the job ends well.
func TestFewerHostsSimulated(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testFewerHosts(t, rand.New(rand.NewPCG(seed, 4))) })
		})
	}
}

func testFewerHosts(t *testing.T, r *rand.Rand) {
	s := newSimulation()
	s.linger = 10 * calmTime
	spec := s.spec([]int{2, 3, 8, 20}[r.IntN(4)], 2, 2)
	spec.Survive = 1 << 10
	var before []string
	pes := 0
	for i := range spec.Hosts {
		spec.Hosts[i].PEs = 1 + r.IntN(3)
		pes += spec.Hosts[i].PEs
		before = append(before, spec.Hosts[i].Name)
	}
	spec.SurviveMin = 1 + r.IntN(pes)
	if r.IntN(3) == 0 {
		spec.Spares = spares(slices.Repeat([]int{1 + r.IntN(3)}, 1+r.IntN(2))...)
	}
	var said bytes.Buffer
	spec.Stderr = &said
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.killNow(ctx, r, 1+r.IntN(8), 0)
	}()
	res, err := Run(t.Context(), spec)
	cancel()
	<-done
	if err != nil || res.Status != 0 || res.First != nil || res.PEs != s.npes {
		t.Errorf("%v, %v, at least %d: %v, %+v %v\n%s", spec.Hosts, spec.Spares, spec.SurviveMin, err, res.First, s.errs, &said)
	}
	s.checkFewer(t, before, pes, spec.SurviveMin, said.String())
	s.checkEnded(t)
}

// goesOnWith matches what a line says of a job that goes on with fewer hosts.
var goesOnWith = regexp.MustCompile(`: the job goes on with (\d+) PEs? on (\d+) hosts?[, (]`)

// checkFewer fails if the hosts of a job, and its PEs, do not become fewer line by line, are less than least, or are
// not those of the last term.
func (s *simulation) checkFewer(t *testing.T, before []string, pes, least int, said string) {
	t.Helper()
	hosts := len(before)
	for _, m := range goesOnWith.FindAllStringSubmatch(said, -1) {
		var nowPEs, nowHosts int
		fmt.Sscan(m[1], &nowPEs)
		fmt.Sscan(m[2], &nowHosts)
		if nowPEs >= pes || nowHosts >= hosts || nowPEs < least {
			t.Errorf("after %d PEs on %d hosts, of which at least %d are to stay, it says %q:\n%s", pes, hosts, least, m[0], said)
		}
		pes, hosts = nowPEs, nowHosts
	}
	if s.npes != pes || len(s.places) != hosts {
		t.Errorf("the last term has %d PEs on %v:\n%s", s.npes, s.places, said)
	}
	at := -1
	for _, name := range s.places {
		if i := slices.Index(before, name); i >= 0 {
			if i <= at {
				t.Errorf("the hosts of the last term are not in their order: %v", s.places)
			}
			at = i
		}
	}
}

// TestFewerHostsRefused: a number of PEs that makes no sense.
func TestFewerHostsRefused(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"a job of 4 PEs that is started again 1 time cannot go on with at least -1: ": func(s *Spec) { s.SurviveMin = -1 },
		"a job of 4 PEs that is started again 1 time cannot go on with at least 5: ":  func(s *Spec) { s.SurviveMin = 5 },
		"a job of 4 PEs that is started again 0 times cannot go on with at least 2: ": func(s *Spec) { s.Survive = 0 },
	} {
		spec := newSimulation().spec(2, 2, 2)
		spec.Survive, spec.SurviveMin = 1, 2
		change(&spec)
		if _, err := Run(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, and not %q", err, want)
		}
	}
}
