package sim

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
)

// TestPrefetch: a run with prefetching is the same, byte for byte, as one without.
func TestPrefetch(t *testing.T) {
	run := func(many bool) []byte {
		var out bytes.Buffer
		cfg := Config{Topology: "numa:4,host:2,rack:4", Trace: &out}
		s, err := newSimIn(t.Context(), cfg, 70, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 8)
			if err != nil {
				return err
			}
			n := uint64(w.NPEs())
			for range 30 {
				pgas.AtomicOf(words, int(w.Random()%8)).FetchAdd(int(w.Random()%n), 1)
				words.At(0).Put(int(w.Random()%n), 1)
			}
			return w.Barrier(ctx)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		s.net.Engine.Prefetch(many)
		s.start()
		s.net.Engine.Run()
		if err := s.net.Engine.Err(); err != nil {
			t.Fatal(err)
		}
		if many {
			checkHotLines(t, s.pes[1])
		}
		return out.Bytes()
	}
	with, without := run(true), run(false)
	if len(with) < 10_000 || !bytes.Equal(with, without) {
		t.Fatalf("%d bytes of trace with foresight, %d without it, and they differ", len(with), len(without))
	}
}

// checkHotLines tests that the lines that p's operations read are all prefetched.
func checkHotLines(t *testing.T, p *pe) {
	lines, _ := private.HotLines(p.world)
	if slices.Contains(lines, 0) {
		t.Errorf("of the World of PE %d a line is not known: %#x", p.net.ID, lines)
	}
	if left := p.recordHotLines(); left > 0 {
		t.Errorf("%d lines of the World of PE %d are not prefetched: hotLines of package engine has too little room", left, p.net.ID)
	}
}
