package pgas_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestRacesOnce: a race of the same two lines in the memory of every PE is reported once on each host, under
// PGAS_CHECK=race.
//
//ci:ucx
func TestRacesOnce(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		in, end := captureStderr()
		defer end()
		data := must(pgas.Alloc[uint64](ctx, w, 1))
		told, sum := must(pgas.Alloc[uint64](ctx, w, 1)), must(pgas.Alloc[uint64](ctx, w, 1))
		for to := range w.NPEs() {
			data.At(0).Put(to, 1)
		}
		mustDo(w.Barrier(ctx)) // everything is at the detectors
		mustDo(w.Barrier(ctx))
		text := string(must(io.ReadAll(in)))
		told.Local()[0] = uint64(strings.Count(text, "race on "))
		mustDo(pgas.SumReduce(ctx, w.Team(), sum.All(), told.All()))
		if n, hosts := int(sum.Local()[0]), w.NPEs()/2; n != hosts { // a host has two PEs
			return fmt.Errorf("%d reports on %d hosts: %s", n, hosts, text)
		}
		return nil
	}
	pgastest.RunProcesses(t, 2, body, "PGAS_CHECK=race", "PGAS_RACE_EXIT=0")
	pgastest.RunHosts(t, 4, 2, body, "PGAS_CHECK=race", "PGAS_RACE_EXIT=0")
}
