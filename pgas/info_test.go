package pgas_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/version"
)

func TestVersion(t *testing.T) {
	if major, minor := pgas.SpecVersion(); major != 1 || minor != 6 {
		t.Errorf("version %d.%d, want 1.6", major, minor)
	}
	if want := "gopgas " + version.Current(); pgas.LibraryName() != want {
		t.Errorf("name %q, want %q", pgas.LibraryName(), want)
	}
}

// What the variables of the specification have the library say. Without them it says nothing.
func TestSpecVariables(t *testing.T) {
	asPE(t, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 3)
		if err != nil {
			return err
		}
		if max := w.HeapUsage().Max; max != 6<<20 { // 5.5 MiB, in units of 2
			return errors.New("SHMEM_SYMMETRIC_SIZE=5.5m does not count")
		}
		return mem.Free(ctx)
	})
	withoutRaces(t)               // which makes the heaps larger
	tests := map[string][]string{ // lines that must come, and how often
		"SHMEM_VERSION=yes": {`pgas: gopgas.*, OpenSHMEM 1\.6`},
		"SHMEM_INFO=1":      {`VARIABLE .*`, `SHMEM_INFO +1 +environment .*`},
		"SMA_DEBUG=1": {
			`pgas: PE 0 on localhost: process \d+ is one of 2 PEs, 2 of them here on \d+ CPUs; no other host; atomics by the target's CPU; heap of 6 MiB at most`,
			`pgas: PE 1 on localhost: allocates 3 int64, 24 bytes at offset 0x[0-9a-f]+`,
			`pgas: PE 1 on localhost: leaves the job, .*`,
		},
		"": nil,
	}
	for env, lines := range tests {
		all := []string{"PGAS_HEAP_MAX=", "SHMEM_SYMMETRIC_SIZE=5.5m"}
		if env != "" {
			all = append(all, env)
		}
		res, _, errs := startJob(t, t.Name(), []boot.Host{{Name: launch.Local, PEs: 2}}, all...)
		if res.Status != 0 || lines == nil && errs != "" {
			t.Errorf("%q: status %d, and it says %q", env, res.Status, errs)
		}
		for _, line := range lines {
			if n := len(regexp.MustCompile(`(?m)^`+line+`$`).FindAllString(errs, -1)); n != 1 {
				t.Errorf("%q: %d lines like %s in\n%s", env, n, line, strings.TrimSpace(errs))
			}
		}
	}
}

func TestAllocHints(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.AllocHints[int64](ctx, w, 4, pgas.AtomicsRemote|pgas.SignalRemote)
		if err != nil {
			return err
		}
		if old := pgas.AtomicOf(words, 3).Swap(w.PE(), 7); words.Len() != 4 || words.Local()[3] != 7 {
			return errors.New("the memory does not hold what was stored")
		} else if old != 0 {
			return errors.New("memory that was never used is not zero")
		}
		_, err = pgas.AllocHints[int64](ctx, w, 1, 1<<7) // one that does not exist changes nothing
		return err
	})
}
