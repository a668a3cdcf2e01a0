package dsm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// twoPEs opens a region of four blocks on two PEs, with an array of one element a byte.
func twoPEs(mode dsm.Mode, body func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 4 << 12, Block: 1 << 12, Mode: mode})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[byte](ctx, r, 4<<12)
		if err != nil {
			return err
		}
		return body(ctx, w, r, a)
	}
}

// runTwo runs body in modes Soft and Paged.
func runTwo(t *testing.T, body func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error) {
	t.Run("soft", func(t *testing.T) { pgastest.RunAll(t, 2, twoPEs(dsm.Soft, body)) })
	t.Run("paged", func(t *testing.T) {
		needsPaging(t)
		pgastest.Run(t, 2, twoPEs(dsm.Paged, body))
	})
}

// A PE that writes a block again and again sends no message after its first release, nor after a Claim.
func TestReleasesWithoutMessages(t *testing.T) {
	runTwo(t, func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error {
		if w.PE() == 1 {
			if err := a.Claim(ctx, 0, 1<<12); err != nil { // block 0, which is PE 0's at first
				return err
			}
			moves := r.Stats().Moves
			for i := range 5 {
				a.Set(i, byte(1+i))
				if _, err := r.Release(ctx); err != nil {
					return err
				}
			}
			if s := r.Stats(); moves != 1 || s.Moves != moves || s.FastReleases < 5 {
				return fmt.Errorf("%d moves by Claim; after five releases %+v", moves, s)
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		for i := range 5 {
			if a.At(i) != byte(1+i) {
				return fmt.Errorf("PE %d: byte %d is %d", w.PE(), i, a.At(i))
			}
		}
		return nil
	})
}

// Publish releases what it names. The rest is released by the next fence, and nothing is lost.
func TestPublish(t *testing.T) {
	runTwo(t, func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error {
		e, err := dsm.NewEvent(ctx, r)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			a.Set(0, 1)
			a.Set(1<<12, 2)
			before := r.Stats()
			if _, err := a.Publish(ctx, 0, 1); err != nil {
				return err
			}
			if s := r.Stats(); s.FastReleases+s.Moves != before.FastReleases+before.Moves+1 {
				return fmt.Errorf("one block was to be released: %+v", s)
			}
			return errors.Join(e.Set(ctx, 1), r.Barrier(ctx))
		}
		if err := e.Wait(ctx, 0); err != nil {
			return err
		}
		if a.At(0) != 1 || a.At(1<<12) != 2 {
			return fmt.Errorf("the bytes are %d and %d", a.At(0), a.At(1<<12))
		}
		return r.Barrier(ctx)
	})
}

// Prefetch brings what a later View would fetch.
func TestPrefetch(t *testing.T) {
	runTwo(t, func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error {
		if w.PE() == 0 {
			for i := range 4 {
				a.Set(i<<12, byte(1+i))
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		a.Prefetch(0, a.Len())
		for i, v := range a.View(0, a.Len()) {
			if want := byte(0); i%(1<<12) != 0 && v != want || i%(1<<12) == 0 && v != byte(1+i>>12) {
				return fmt.Errorf("PE %d: byte %d is %d", w.PE(), i, v)
			}
		}
		return r.Close(ctx)
	})
}

// Report tells false sharing from true.
func TestReport(t *testing.T) {
	runTwo(t, func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error {
		for round := range 3 {
			a.Set(w.PE()*2048+round, byte(1+round)) // of block 0: false sharing
			if w.PE() == round%2 {
				a.Set(1<<12, byte(1+round)) // of block 1: true sharing
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
		var out bytes.Buffer
		if err := r.Report(ctx, &out, 2); err != nil || w.PE() != 0 {
			return err
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "block 0, array 0 ([]uint8)[0:4096]") || !strings.Contains(lines[0], "false sharing") ||
			!strings.Contains(lines[1], "block 1") || strings.Contains(lines[1], "false sharing") {
			return fmt.Errorf("the report is\n%s", &out)
		}
		return nil
	})
}

// With PGAS_DSM_STATS=1, PE 0 prints a line when a region closes. Page faults are counted.
func TestStatsAtClose(t *testing.T) {
	needsPaging(t)
	if testing.Short() {
		t.Skip("starts a process")
	}
	program := t.TempDir() + "/program"
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/paged").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "PGAS_QUIET_SINGLETON=1", "PGAS_DSM_STATS=1")
	out, err := run.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^pgas: coherent region of 65536 bytes .* mode paged.*; on PE 0: .*; 1 faults of reads, 1 of writes, 1 upgrades; 2 releases without and 0 with messages.*\n$`).Match(out) {
		t.Errorf("%v: it said\n%s", err, out)
	}
}

// Readers of an RWMutex that have written publish that at RUnlock, each beside the others, and the next writer sees
// all.
func TestReadersPublish(t *testing.T) {
	runTwo(t, func(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[byte]) error {
		l, err := locks.AllocSpinRW(ctx, w, locks.SpinOptions{})
		if err != nil {
			return err
		}
		m, err := dsm.NewRWMutex(ctx, r, l, 1)
		if err != nil {
			return err
		}
		for round := range 5 {
			if err := m.RLock(ctx); err != nil {
				return err
			}
			a.Set(w.PE(), byte(1+round)) // both in block 0
			m.RUnlock()
			if err := w.Barrier(ctx); err != nil { // it carries no notices
				return err
			}
			if err := m.Lock(ctx); err != nil {
				return err
			}
			x, y := a.At(0), a.At(1)
			m.Unlock()
			if x != byte(1+round) || y != byte(1+round) {
				return fmt.Errorf("PE %d, round %d: the readers' bytes are %d and %d", w.PE(), round, x, y)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
