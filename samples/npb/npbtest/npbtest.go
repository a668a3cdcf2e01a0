// Package npbtest runs every version of a benchmark at its smallest size, on the kinds of PE that there are, and fails
// the test whose result is not the published one.
package npbtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// Verify runs all versions of p at the class. What runs in one process runs with two goroutines and with three, where
// parts are unequal; what runs on PEs, on two PEs that are goroutines, two processes, and two hosts. Coherent memory is
// also tried in its mode Soft on one host, in which accesses go through the protocol.
func Verify(t *testing.T, p *benchmark.Program, class string) {
	for _, v := range p.Versions {
		t.Run(v.Name, func(t *testing.T) {
			switch {
			case v.Job != nil:
				jobs(t, v, class)
			case v.Name == benchmark.Sequential:
				if testing.Short() {
					t.Skip("one goroutine")
				}
				alone(t, v, benchmark.Setup{Class: class, Goroutines: 1})
			default:
				for _, n := range []int{3, 2} {
					if n == 2 && testing.Short() {
						continue
					}
					t.Run(fmt.Sprintf("%d", n), func(t *testing.T) { alone(t, v, benchmark.Setup{Class: class, Goroutines: n}) })
				}
			}
		})
	}
}

func alone(t *testing.T, v benchmark.Version, s benchmark.Setup) {
	r, err := v.Alone(t.Context(), s)
	if err == nil {
		err = verified(r)
	}
	if err != nil {
		t.Error(err)
	}
}

// jobs runs a version on PEs, with one goroutine each on goroutines and on hosts, and two on one host.
func jobs(t *testing.T, v benchmark.Version, class string) {
	body := func(goroutines int) pgastest.Body {
		return func(ctx context.Context, w *pgas.World) error {
			r, err := v.Job(ctx, w, benchmark.Setup{Class: class, Goroutines: goroutines})
			if err != nil || w.PE() != 0 {
				return err
			}
			return verified(r)
		}
	}
	t.Run("goroutine PEs", func(t *testing.T) { pgastest.RunGoroutines(t, 2, body(1)) })
	t.Run("processes", func(t *testing.T) { pgastest.RunProcesses(t, 2, body(2)) })
	t.Run("hosts", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, body(1)) })
	if v.Name == benchmark.Coherent {
		t.Run("soft", func(t *testing.T) { pgastest.RunProcesses(t, 2, body(2), dsm.EnvMode+"=soft") })
	}
}

func verified(r benchmark.Result) error {
	for _, c := range r.Checks {
		if !c.Passed() {
			return fmt.Errorf("%s is %.15g, published is %.15g: relative error %.1e, allowed %.0e", c.Name, c.Value, c.Reference, c.Error(), c.Tolerance)
		}
	}
	if !r.Verified() {
		return fmt.Errorf("nothing was checked")
	}
	return nil
}
