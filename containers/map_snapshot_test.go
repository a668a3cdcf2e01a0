package containers_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestMapSnapshot: what any number of members saves, any number loads.
func TestMapSnapshot(t *testing.T) {
	want := map[string]wideValue{}
	for i, k := range mapStrings() {
		want[k] = wideValueOf(int64(i))
	}
	for _, from := range []int{1, 3} {
		prefix := filepath.Join(t.TempDir(), "snapshot")
		pgastest.RunGoroutines(t, from, func(ctx context.Context, w *pgas.World) error {
			m, err := containers.NewStringMap[wideValue](ctx, w, containers.Capacity(100))
			if err != nil {
				return err
			}
			if err := m.SetAll(ctx, maps.All(want)); err != nil {
				return err
			}
			return m.Save(ctx, prefix)
		})
		for _, to := range []int{1, 2, 5} {
			pgastest.RunGoroutines(t, to, func(ctx context.Context, w *pgas.World) error {
				m, err := containers.NewStringMap[wideValue](ctx, w, containers.Capacity(100))
				if err != nil {
					return err
				}
				if err := m.Load(ctx, prefix); err != nil {
					return err
				}
				if got := maps.Collect(m.All()); !maps.Equal(got, want) {
					return fmt.Errorf("%d members have loaded %d elements of %d", to, len(got), len(want))
				}
				return w.Barrier(ctx)
			})
		}
	}
}

// mapSaved returns the bytes of a snapshot of one member.
func mapSaved(t testing.TB) []byte {
	prefix := filepath.Join(t.TempDir(), "snapshot")
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[uint64, int64](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := m.SetAll(ctx, maps.All(map[uint64]int64{1: 2, 3: 4})); err != nil {
			return err
		}
		return m.Save(ctx, prefix)
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(prefix + ".0")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMapSnapshotDamaged: every cut and every changed byte of a file is noticed.
func TestMapSnapshotDamaged(t *testing.T) {
	whole := mapSaved(t)
	if words, err := containers.ReadMapFile[uint64, int64](whole); err != nil || len(words) != 4 {
		t.Fatalf("the file itself: %d, %v", words, err)
	}
	for i := range whole {
		if _, err := containers.ReadMapFile[uint64, int64](whole[:i]); err == nil {
			t.Errorf("a file cut to %d bytes is not noticed", i)
		}
		changed := bytes.Clone(whole)
		changed[i] ^= 0x41
		if _, err := containers.ReadMapFile[uint64, int64](changed); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("byte %d is changed: %v", i, err)
		}
	}
	if _, err := containers.ReadMapFile[uint64, int64](append(bytes.Clone(whole), 0)); err == nil {
		t.Error("a byte too many is not noticed")
	}
	if _, err := containers.ReadMapFile[uint64, uint64](whole); err == nil {
		t.Error("other values are not noticed")
	}
}

// FuzzMapSnapshot: no file makes the reader panic, or take more memory than the file has.
func FuzzMapSnapshot(f *testing.F) {
	f.Add(mapSaved(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		words, err := containers.ReadMapFile[uint64, int64](file)
		if err == nil && 8*len(words) > len(file) {
			t.Errorf("a file of %d bytes has %d words", len(file), len(words))
		}
	})
}

// TestMapSnapshotMissing: a file that is not there is one clear error on its member, and told to the others.
func TestMapSnapshotMissing(t *testing.T) {
	dir := t.TempDir()
	prefix, pipe := filepath.Join(dir, "none"), filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe+".0", 0o600); err != nil {
		t.Fatal(err)
	}
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[uint64, int64](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := m.Load(ctx, prefix); err == nil || !strings.Contains(err.Error(), "none.0") {
			return fmt.Errorf("Load returned %v", err)
		}
		if err := m.Load(ctx, pipe); err == nil || !strings.Contains(err.Error(), "pipe.0 is no regular file") {
			return fmt.Errorf("Load of a pipe returned %v", err)
		}
		return m.Free(ctx)
	})
}
