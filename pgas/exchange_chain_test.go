package pgas_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// TestExchangeChain: PEs of hosts that are a chain of servers of the exchange, with a fan-out of 1, find each other,
// and listen where the others reach them.
func TestExchangeChain(t *testing.T) {
	asPE(t, allToAll)
	hosts := pgastest.NewHosts(t, 4)
	var at []boot.Host
	for i, name := range hosts.Names {
		at = append(at, boot.Host{Name: name, PEs: 1 + i%2})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Spec{
		Hosts: at, FanOut: 1, Program: self, Args: []string{"-test.run=^TestExchangeChain$"},
		Env:    []string{peOfTest + "=TestExchangeChain", "PGAS_HEAP_MAX=16m"},
		Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if err != nil || res.Status != 0 || res.First != nil {
		t.Errorf("%+v, %v: %s", res, err, &out)
	}
}

// allToAll has every PE put its number to every PE.
func allToAll(ctx context.Context, w *pgas.World) error {
	from, err := pgas.Alloc[int](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	for pe := range w.NPEs() {
		from.At(w.PE()).Put(pe, w.PE()+1)
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for pe, n := range from.Local() {
		if n != pe+1 {
			return fmt.Errorf("PE %d has put %d", pe, n)
		}
	}
	return nil
}
