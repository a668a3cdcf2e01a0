package sim

import (
	"bytes"
	"context"
	"testing"

	"github.com/gopgas/gopgas/pgas"
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
		s.exceedsCache = many
		s.start()
		s.run()
		if s.err != nil {
			t.Fatal(s.err)
		}
		return out.Bytes()
	}
	with, without := run(true), run(false)
	if len(with) < 10_000 || !bytes.Equal(with, without) {
		t.Fatalf("%d bytes of trace with foresight, %d without it, and they differ", len(with), len(without))
	}
}
