package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

// spares returns spares of some PEs each.
func spares(pes ...int) (all []boot.Host) {
	for i, n := range pes {
		all = append(all, boot.Host{Name: fmt.Sprintf("spare%02d", i), PEs: n})
	}
	return all
}

// theSpares matches the lines that a job with spares may print.
var theSpares = regexp.MustCompile(`^pgasrun: (.*: all PEs are started again \(\d+ of \d+ times\)|a spare is lost, and the job goes on without it: host spare\d\d: the agent ended \(.*\))$`)

// TestSparesSimulated: PEs, agents, relays, the agents of spares and of spares that have just taken a place are killed
// at random moments, also before all hosts are ready for the next term. All agents of a term are told the same, a host
// that has lost its place never comes back, and the job ends well.
func TestSparesSimulated(t *testing.T) {
	seeds := 120
	if testing.Short() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSpares(t, rand.New(rand.NewPCG(seed, 3))) })
		})
	}
}

func testSpares(t *testing.T, r *rand.Rand) {
	s := newSimulation()
	s.linger = 10 * calmTime
	spec := s.spec([]int{2, 3, 7, 20}[r.IntN(4)], 2, 2)
	for range r.IntN(5) {
		spec.Spares = spares(slices.Repeat([]int{1 + r.IntN(3)}, len(spec.Spares)+1)...)
	}
	spec.Survive = 1 << 10
	var said bytes.Buffer
	spec.Stderr = &said
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.killNow(ctx, r, r.IntN(8), 2*len(spec.Hosts))
	}()
	res, err := Run(t.Context(), spec)
	cancel()
	<-done
	if err != nil || res.Status != 0 || res.First != nil {
		t.Errorf("%d hosts, %v: %v, %+v %v\n%s", len(spec.Hosts), spec.Spares, err, res.First, s.errs, &said)
	}
	if slices.ContainsFunc(s.errs, func(err error) bool { return errors.Is(err, errPlaces) }) {
		t.Errorf("%v", s.errs)
	}
	s.checkReplaced(t, &said)
	s.checkEnded(t)
}

// killNow kills some PEs, agents and relays, so many times: each time when all PEs stay, of which there are pes, and
// while the next term begins. No host is lost twice in a row.
func (s *simulation) killNow(ctx context.Context, r *rand.Rand, times, pes int) {
	lost := map[string]bool{}
	for range times {
		if s.awaitAll(ctx, pes); ctx.Err() != nil {
			return
		}
		if r.IntN(2) == 0 {
			lost = map[string]bool{}
			time.Sleep(calmTime) // in simulated time, for the launcher to begin a new row of failures
		}
		for range 1 + r.IntN(3) {
			for host := range s.killSome(r, 1+r.IntN(2), lost) {
				lost[host] = true
			}
			time.Sleep(time.Duration(r.Int64N(int64(30 * latency)))) // in simulated time, for another step of the job
		}
	}
}

// awaitAll waits until allStay, or the end of ctx.
func (s *simulation) awaitAll(ctx context.Context, pes int) {
	for !s.allStay(pes) && ctx.Err() == nil {
		time.Sleep(latency) // in simulated time, for the PEs to find each other
	}
}

// place matches what a line says of a spare that takes a place.
var place = regexp.MustCompile(`(?:host (\w+) is lost: |, |: )(\w+) takes (?:its place|the place of (\w+))`)

// checkReplaced fails if the hosts of the last term are not those that the lines of the job tell.
func (s *simulation) checkReplaced(t *testing.T, said io.Reader) {
	t.Helper()
	lines, _ := io.ReadAll(said)
	gone := map[string]bool{}
	for line := range strings.Lines(string(lines)) {
		if !theSpares.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("it says %q", line)
		}
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			gone[m[1]+m[3]] = true
			if gone[m[2]] {
				t.Errorf("%s takes a place again: %s", m[2], lines)
			}
		}
	}
	for _, host := range s.places {
		if gone[host] {
			t.Errorf("%s is used again, in %v:\n%s", host, s.places, lines)
		}
	}
}

// simulated is a job. A test kills its hosts and PEs, when all PEs have found each other.
type simulated struct {
	*simulation
	t    *testing.T
	said bytes.Buffer
	res  Result
	err  error
	done chan struct{}
}

// beginSimulated starts a job on two hosts of two PEs, with spares.
func beginSimulated(t *testing.T, prepare func(*simulation), all ...boot.Host) *simulated {
	return beginChanged(t, prepare, func(s *Spec) { s.Spares = all })
}

// beginChanged is beginSimulated with a Spec that change has changed.
func beginChanged(t *testing.T, prepare func(*simulation), change func(*Spec)) *simulated {
	j := &simulated{simulation: newSimulation(), t: t, done: make(chan struct{})}
	j.linger = 10 * calmTime
	if prepare != nil {
		prepare(j.simulation)
	}
	spec := j.spec(2, 2, 2)
	spec.Survive, spec.Stderr = 20, &j.said
	change(&spec)
	go func() {
		defer close(j.done)
		j.res, j.err = Run(t.Context(), spec)
	}()
	j.settle()
	return j
}

// settle waits until all PEs have found each other, and the launcher has seen what else there is, or for the end.
func (j *simulated) settle() {
	ctx, cancel := context.WithCancel(j.t.Context())
	defer cancel()
	go func() {
		<-j.done
		cancel()
	}()
	for {
		j.awaitAll(ctx, 0)
		if time.Sleep(10 * latency); j.allStay(0) || ctx.Err() != nil { // in simulated time, for frames to arrive
			return
		}
	}
}

// running returns the agent of a host.
func (j *simulated) running(host string) *simProcess {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range slices.Backward(j.processes) {
		select {
		case <-p.ended:
		default:
			if p.node.host == host {
				return p
			}
		}
	}
	return nil
}

// kill kills the agent of a host, and waits until its PEs are there again.
func (j *simulated) kill(host string) {
	j.t.Helper()
	p := j.running(host)
	if p == nil {
		j.t.Fatalf("no agent runs on %s:\n%s", host, &j.said)
	}
	p.signalled(unix.SIGKILL)
	time.Sleep(2 * latency) // for the PEs to be gone
	j.settle()
}

// killPE kills a PE that runs on a host.
func (j *simulated) killPE(host string, pe int) {
	j.running(host).killPE(pe)
	time.Sleep(2 * latency) // for the PE to be gone
	j.settle()
}

// beginEnd kills the first PE of the job, on host, where PEs end late, and returns when all others are gone but the
// next one, which runs there, too.
func (j *simulated) beginEnd(host string) {
	j.running(host).killPE(0)
	time.Sleep(lateEnd * 3 / 2) // in simulated time, for the first PE to be gone and the launcher to kill the others
}

// end waits for the end, and checks the error, the places of the last term and what was said.
func (j *simulated) end(wantErr string, places []string, said ...string) {
	j.t.Helper()
	<-j.done
	if (wantErr == "") != (j.err == nil) || j.err != nil && !strings.Contains(j.err.Error(), wantErr) || strings.Contains(fmt.Sprint(j.err), "\n") {
		j.t.Errorf("the error is %v, and not %q", j.err, wantErr)
	}
	if !slices.Equal(j.places, places) {
		j.t.Errorf("the hosts were %v in the end, and not %v", j.places, places)
	}
	lines := strings.Split(strings.TrimSuffix(j.said.String(), "\n"), "\n")
	if len(said) == 0 {
		said = []string{""}
	}
	if len(lines) != len(said) {
		j.t.Fatalf("it says\n%s\nand not %q", &j.said, said)
	}
	for i, line := range lines {
		if !strings.Contains(line, said[i]) {
			j.t.Errorf("it says %q, and not %q", line, said[i])
		}
	}
	j.checkEnded(j.t)
}

const again = ": all PEs are started again ("

// TestSpares: which host takes which place.
func TestSpares(t *testing.T) {
	const a, b = "node000000", "node000001"
	for name, test := range map[string]func(*testing.T){
		"the first host": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(2)...)
			j.kill(a)
			j.end("", []string{"spare00", b}, "host "+a+" is lost: spare00 takes its place"+again+"1 of 20 times)")
		},
		"the smallest that is large enough": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(1, 3, 2)...)
			j.kill(b)
			j.kill("spare02")
			j.end("", []string{a, "spare01"}, "host "+b+" is lost: spare02 takes its place"+again, "host spare02 is lost: spare01 takes its place"+again)
		},
		"too small": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(1)...)
			j.kill(b)
			j.end("", []string{a, b}, "host "+b+" is lost"+again)
		},
		"a spare dies": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(2, 2)...)
			j.kill("spare00")
			if j.places[1] != b {
				t.Errorf("a spare has died, and the hosts are %v", j.places)
			}
			j.kill(b)
			j.end("", []string{a, "spare01"}, "a spare is lost, and the job goes on without it: host spare00: the agent ended (signal: killed)", "spare01 takes its place"+again+"1 of 20")
		},
		"a spare is no agent": func(t *testing.T) {
			j := beginSimulated(t, func(s *simulation) { s.fault["spare00"] = greetsNewer }, spares(2)...)
			j.kill(b)
			j.end("", []string{a, b}, "a spare is lost, and the job goes on without it: host spare00: its pgasrun is v9.9.9", "host "+b+" is lost"+again)
		},
		"a spare never answers": func(t *testing.T) {
			j := beginSimulated(t, func(s *simulation) { s.fault["spare00"] = neverGreets }, spares(2)...)
			j.kill(b)
			j.end("host spare00 has not answered within 30s", []string{a, b}, "host "+b+" is lost: spare00 takes its place"+again)
		},
		"one spare never answers": func(t *testing.T) {
			j := beginSimulated(t, func(s *simulation) { s.fault["spare00"], s.fault["spare01"] = neverGreets, garbledReady }, spares(2, 2, 3)...)
			j.kill(b) // spare00 has not even greeted: it would be the last
			j.end("", []string{a, "spare02"}, "host "+b+" is lost: spare01 takes its place"+again,
				"host spare01 has not answered within 30s: check that `sim spare01 /usr/local/bin/pgasrun agent` works without a question, or give it longer with PGAS_BOOT_TIMEOUT: spare02 takes its place"+again)
		},
		"two at once": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(2, 2)...)
			j.running(a).signalled(unix.SIGKILL)
			j.kill(b)
			j.end("", []string{"spare00", "spare01"}, " is lost: spare00 takes ") // whichever the launcher sees first
		},
		"its agent is lost after its PEs": func(t *testing.T) {
			j := beginSimulated(t, func(s *simulation) { s.fault[a] = endsLate }, spares(2)...)
			j.beginEnd(a)
			j.kill(b)
			j.end("", []string{a, "spare00"}, "PE 0 on host "+a+" (process 1) was killed by signal 9 (SIGKILL): spare00 takes the place of "+b+again+"1 of 20 times)")
		},
		"lost twice": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(2)...)
			j.kill(b)
			j.kill("spare00")
			j.kill("spare00")
			j.end("host spare00 was lost in 2 terms in a row, and none of them lasted 1m0s: it is not used again, and there is no spare: leave it out of -hosts, or add a spare, such as +other:2",
				[]string{a, "spare00"}, "spare00 takes its place"+again, "host spare00 is lost"+again)
		},
		"lost twice with time between": func(t *testing.T) {
			j := beginSimulated(t, nil)
			j.kill(b)
			time.Sleep(calmTime) // a row of failures ends then
			j.kill(b)
			j.kill(a)
			j.kill(b)
			j.end("", []string{a, b}, "host "+b+" is lost", "host "+b+" is lost", "host "+a+" is lost", "host "+b+" is lost")
		},
		"its PEs are killed": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(2)...)
			j.killPE(b, 2)
			j.killPE(b, 3)
			j.killPE(b, 2)
			j.killPE("spare00", 2)
			j.end("", []string{a, "spare00"}, again+"1 of", again+"2 of", "PE 2 on host "+b+" (process 4) was killed by signal 9 (SIGKILL): spare00 takes the place of "+b+again+"3 of 20 times)", again+"4 of")
		},
		"its PEs are killed, and there is no spare": func(t *testing.T) {
			j := beginSimulated(t, nil)
			for range 4 {
				j.killPE(b, 3)
			}
			j.end("", []string{a, b}, again+"1 of", again+"2 of", again+"3 of", again+"4 of")
		},
		"it cannot be started again": func(t *testing.T) {
			j := beginSimulated(t, nil, spares(1)...)
			j.mu.Lock()
			j.fault[b] = greetsOlder
			j.mu.Unlock()
			j.kill(b)
			j.end("host "+b+": its pgasrun is older", []string{a, b}, "host "+b+" is lost"+again)
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// TestSparesRefused: spares that a job cannot have.
func TestSparesRefused(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"host spare00 is a spare, and no PE of this job is started again": func(s *Spec) { s.Survive = 0 },
		"host node000001 runs PEs, and cannot be a spare, too":            func(s *Spec) { s.Spares[0].Name = "node000001" },
		"a spare: host spare00 is listed twice":                           func(s *Spec) { s.Spares = append(s.Spares, s.Spares[0]) },
		"a spare: host spare00 cannot run 0 PEs":                          func(s *Spec) { s.Spares[0].PEs = 0 },
	} {
		spec := newSimulation().spec(2, 1, 2)
		spec.Spares, spec.Survive = spares(1), 1
		change(&spec)
		if _, err := Run(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, and not %q", err, want)
		}
	}
}
