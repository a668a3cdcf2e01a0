package dsm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/ucx"
)

// survivors runs a program forever, until a PE dies. Every wait and every access ends with an error then.
func survivors(o dsm.Options, victim int, die func(w *pgas.World)) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		o := o
		o.Bytes, o.Block = 1<<16, 1<<12
		r, err := dsm.Open(ctx, w, o)
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, 8192)
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
		err = r.Run(ctx, 2, func(ctx context.Context, m dsm.Member) error {
			for round := 0; ; round++ {
				for k := range 64 {
					i := int(mix(uint64(round), uint64(k), uint64(m.ID())) % 8192)
					a.Set(i/8*8+m.ID(), int64(round))        // elements of its own
					a.At(int(mix(uint64(i)) % 8192 / 8 * 8)) // of a member that may be at it: any value will do
				}
				if round > 3 && w.PE() == victim {
					die(w)
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
			}
		})
		var peer *pgas.PeerError
		if !errors.As(err, &peer) || peer.PE != victim {
			return fmt.Errorf("PE %d: unexpected end: %v", w.PE(), err)
		}
		fmt.Printf("PE %d was told of the death\n", w.PE())
		return nil
	}
}

// TestDeathsSimulated has a PE die at many moments.
func TestDeathsSimulated(t *testing.T) {
	for i := range 25 {
		at := time.Duration(i+1) * 37 * time.Microsecond
		cfg := sim.Config{Seed: uint64(i), Deaths: []sim.Death{{PE: 1, At: 300*time.Microsecond + at}}, HeapMax: 4 << 20}
		_, err := sim.Run(t.Context(), cfg, 3, survivors(dsm.Options{Mode: dsm.Soft}, 1, func(*pgas.World) {}))
		if err != nil && strings.Contains(err.Error(), "unexpected end") {
			t.Fatalf("a death at %v: %v", at, err)
		}
	}
}

// deathIn is set in the PEs of a job in which one kills itself: the mode of its region.
const deathIn = "DSM_TEST_DEATH_IN"

// dying is the PE that kills itself.
const dying = 2

// TestDeaths has a PE killed while the others fetch from it, wait for it in barriers and queue for a lock with it.
func TestDeaths(t *testing.T) {
	if in := os.Getenv(deathIn); in != "" {
		mode := dsm.Soft
		if in == dsm.Paged.String() {
			mode = dsm.Paged
		}
		pgas.Main(survivors(dsm.Options{Mode: mode}, dying, func(*pgas.World) { syscall.Kill(os.Getpid(), syscall.SIGKILL) }))
		os.Exit(0)
	}
	if testing.Short() {
		t.Skip("no PE is a goroutine")
	}
	for _, mode := range []dsm.Mode{dsm.Paged, dsm.Soft} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == dsm.Paged {
				needsPaging(t)
			}
			t.Run("processes", func(t *testing.T) { killIn(t, mode, boot.Host{Name: launch.Local, PEs: 3}) })
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
				killIn(t, mode, boot.Host{Name: hosts.Names[0], PEs: dying}, boot.Host{Name: hosts.Names[1], PEs: 1})
			})
		})
	}
}

// ucxAborts is in the output of a PE that UCX 1.13 has ended because a peer went away while the two connected
// (docs/ucx.md).
var ucxAborts = regexp.MustCompile(`(ucp_request|tcp_ep)\.c:\d+ +Assertion`)

// killIn runs a job in which PE dying is killed, a few times, at different moments.
func killIn(t *testing.T, mode dsm.Mode, hosts ...boot.Host) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		var out bytes.Buffer
		res, err := launch.Run(ctx, launch.Spec{
			Hosts: slices.Clone(hosts), Program: self, Args: []string{"-test.run=^TestDeaths$"}, KeepGoing: true,
			Env:    []string{deathIn + "=" + mode.String(), "PGAS_HEAP_MAX=16m"},
			Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
		})
		if ucxAborts.Match(out.Bytes()) {
			t.Logf("UCX has aborted a PE whose peer ended while the two connected: not counted\n%s", &out)
			continue
		}
		if err != nil || res.First == nil || res.First.PE != dying || res.First.Signal() != syscall.SIGKILL {
			t.Fatalf("%v, first failure %v:\n%s", err, res.First, &out)
		}
		if n := strings.Count(out.String(), "was told of the death"); n != dying || strings.Contains(out.String(), "unexpected end") {
			t.Fatalf("%d of %d PEs were told that PE %d was killed:\n%s", n, dying, dying, &out)
		}
	}
}
