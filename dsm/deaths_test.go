package dsm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/ucx"
)

// survivor runs a program for ever, until a PE dies. Every wait and every access ends with an error then, which must be
// about the victim, whatever the program was at.
func survivor(ctx context.Context, w *pgas.World, o opened, victim int) error {
	err := untilDeath(ctx, w, o, victim)
	if w.PE() == victim {
		return err
	}
	var peer *pgas.PeerError
	if !errors.As(err, &peer) || peer.PE != victim {
		return fmt.Errorf("PE %d: unexpected end: %v", w.PE(), err)
	}
	return nil
}

// untilDeath writes, reads and locks coherent memory, and meets the other PEs, round after round. What victim alone has
// written before a barrier is what others read behind it, or what it writes in the next round: nothing else, also when
// it dies.
func untilDeath(ctx context.Context, w *pgas.World, o opened, victim int) error {
	o.Bytes, o.Block = 1<<17, 1<<12
	r, err := o.open(ctx, w)
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[int64](ctx, r, 8192)
	if err != nil {
		return err
	}
	its, err := dsm.Alloc[int64](ctx, r, victimWords)
	if err != nil {
		return err
	}
	state, err := locks.AllocDMCSState(ctx, w, 1)
	if err != nil {
		return err
	}
	mutex, err := dsm.NewMutex(ctx, r, locks.NewDMCS(w, state.At(0), locks.DMCSOptions{}), 0)
	if err != nil {
		return err
	}
	return r.Run(ctx, 2, func(ctx context.Context, m dsm.Member) error {
		for round := 0; ; round++ {
			if w.PE() == victim && m.ID()%(m.N()/w.NPEs()) == 0 {
				for i := range victimWords {
					its.Set(i, int64(round)+1)
				}
			}
			for k := range 64 {
				i := int(mix(uint64(round), uint64(k), uint64(m.ID())) % 8192)
				a.Set(i/16*16+m.ID(), int64(round))        // elements of its own
				a.At(int(mix(uint64(i)) % 8192 / 16 * 16)) // of a member that may be at it: any value will do
			}
			if m.ID()%2 == 0 {
				if err := mutex.Lock(ctx); err != nil {
					return err
				}
				mutex.Unlock()
			}
			if err := m.Barrier(ctx); err != nil {
				return err
			}
			for i := 0; i < victimWords; i += 64 {
				if v := its.At(i); v != int64(round)+1 && v != int64(round)+2 {
					return fmt.Errorf("round %d: word %d of PE %d is %d", round, i, victim, v)
				}
			}
		}
	})
}

// victimWords are of two blocks of untilDeath.
const victimWords = 1024

// TestDeathsSimulated has a PE die at random moments, under all protocols.
func TestDeathsSimulated(t *testing.T) {
	notRaced(t)
	moments := uint64(200)
	switch {
	case *long:
		moments = 1000
	case testing.Short():
		moments = 10
	}
	for seed := *firstSeed; seed < *firstSeed+moments; seed++ {
		npes := 2 + int(mix(seed, 1)%4)
		victim := int(mix(seed, 2) % uint64(npes))
		all := protocols.All()
		o := opened{dsm.Options{Mode: dsm.Soft}, protocols.Choice{Protocol: all[mix(seed, 3)%uint64(len(all))]}}
		at := time.Duration(mix(seed, 4) % uint64(2*time.Millisecond))
		cfg := sim.Config{
			Seed: seed, Adversary: seed%2 == 1, HeapMax: 4 << 20, MaxEvents: 1_000_000,
			Deaths: []sim.Death{{PE: victim, At: at}}, Detection: time.Duration(mix(seed, 5) % uint64(time.Millisecond)),
		}
		_, err := sim.Run(t.Context(), cfg, npes, func(ctx context.Context, w *pgas.World) error { return survivor(ctx, w, o, victim) })
		var peer *pgas.PeerError
		if errors.As(err, &peer) && peer.PE == victim {
			err = nil // it has died before all PEs had joined
		}
		if err != nil {
			t.Fatalf("PE %d of %d, protocol %v, dies after %v: %v\ngo test ./dsm -run TestDeathsSimulated -seed %d", victim, npes, o.Protocol, at, err, seed)
		}
	}
}

// deathIn is set in the PEs of a job in which one kills itself: the mode of its region, and the seed of the moment.
const deathIn = "DSM_TEST_DEATH_IN"

// dying is the PE that kills itself.
const dying = 2

// dies is a PE of a job of TestDeaths.
func dies(in string) {
	var name string
	var seed uint64
	if _, err := fmt.Sscanf(in, "%s %d", &name, &seed); err != nil {
		panic(err)
	}
	modes := map[string]dsm.Mode{dsm.Paged.String(): dsm.Paged, dsm.Soft.String(): dsm.Soft, dsm.Shared.String(): dsm.Shared}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if w.PE() == dying {
			time.AfterFunc(time.Duration(mix(seed)%uint64(60*time.Millisecond)), func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		err := survivor(ctx, w, opened{Options: dsm.Options{Mode: modes[name]}}, dying)
		if err == nil {
			fmt.Printf("PE %d was told of the death\n", w.PE())
		}
		return err
	})
}

// TestDeaths has a PE killed at random moments, while the others open the region, fetch from it, wait for it in
// barriers and queue for a lock with it.
func TestDeaths(t *testing.T) {
	if in := os.Getenv(deathIn); in != "" {
		dies(in)
		os.Exit(0)
	}
	if testing.Short() {
		t.Skip("no PE is a goroutine")
	}
	oneHost := []boot.Host{{Name: launch.Local, PEs: 3}}
	for _, mode := range []dsm.Mode{dsm.Paged, dsm.Soft, dsm.Shared} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == dsm.Paged {
				needsPaging(t)
			}
			t.Run("processes", func(t *testing.T) { killIn(t, mode, oneHost) })
			if mode == dsm.Shared {
				return
			}
			t.Run("hosts", func(t *testing.T) {
				if !ucx.Available {
					t.Skip("built without cgo, so there is no transport between hosts")
				}
				if err := netns.Usable(); err != nil {
					t.Skip(err)
				}
				hosts, err := netns.New(2)
				if err != nil {
					t.Fatal(err)
				}
				defer hosts.Close()
				killIn(t, mode, []boot.Host{{Name: hosts.Names[0], PEs: dying}, {Name: hosts.Names[1], PEs: 1}})
			})
		})
	}
}

// ucxAborts is in the output of a PE that UCX 1.13 has ended because a peer went away while the two connected
// (docs/packages/ucx.md).
var ucxAborts = regexp.MustCompile(`(ucp_request|tcp_ep)\.c:\d+ +Assertion`)

// killIn runs jobs in which PE dying is killed, each at another moment.
func killIn(t *testing.T, mode dsm.Mode, hosts []boot.Host) {
	if mode != dsm.Paged {
		killAtMoments(t, mode, hosts)
		return
	}
	inBothForms(t, func(t *testing.T) { killAtMoments(t, mode, hosts) })
}

func killAtMoments(t *testing.T, mode dsm.Mode, hosts []boot.Host) {
	aborted := 0
	for seed := *firstSeed; seed < *firstSeed+*deaths; seed++ {
		out, err := killOnce(t, mode, seed, hosts)
		if ucxAborts.MatchString(out) {
			aborted++
			continue
		}
		if err != nil {
			t.Fatalf("%v\ngo test ./dsm -run '%s' -seed %d -deaths 1\n%s", err, t.Name(), seed, out)
		}
	}
	t.Logf("%d deaths; not counted: %d in which UCX has aborted a PE whose peer ended while the two connected", *deaths, aborted)
}

// killOnce runs one job. An error says that the survivors were not told, or were told of another PE, or that a process
// is left.
func killOnce(t *testing.T, mode dsm.Mode, seed uint64, hosts []boot.Host) (string, error) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out bytes.Buffer
	mark := fmt.Sprintf("%s=%v %d", deathIn, mode, seed)
	res, err := launch.Run(ctx, launch.Spec{
		Hosts: slices.Clone(hosts), Program: self, Args: []string{"-test.run=^TestDeaths$"}, KeepGoing: true,
		Env:    []string{mark, "PGAS_HEAP_MAX=16m", fmt.Sprintf("DSM_TEST_LAUNCHER=%d", os.Getpid())},
		Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	told := strings.Count(out.String(), "was told of the death")
	switch {
	case err != nil:
		return out.String(), err
	case res.First == nil || res.First.PE != dying || res.First.Signal() != syscall.SIGKILL:
		return out.String(), fmt.Errorf("the first failure is %v", res.First)
	case strings.Contains(out.String(), ": joining the job: ") && strings.Contains(out.String(), fmt.Sprintf("PE %d on ", dying)):
		// PE dying had joined before the others had, which are told as well, by pgas.Main.
	case told != dying || strings.Contains(out.String(), "unexpected end"):
		return out.String(), fmt.Errorf("%d of %d PEs were told that PE %d was killed", told, dying, dying)
	}
	return out.String(), mustBeGone(fmt.Sprintf("DSM_TEST_LAUNCHER=%d", os.Getpid()))
}

// mustBeGone returns an error if a process has mark in its environment.
func mustBeGone(mark string) error {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return err
	}
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), mark) {
			return fmt.Errorf("%s: the process is left", file)
		}
	}
	return nil
}
