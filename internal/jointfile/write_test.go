package jointfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopgas/gopgas/internal/jointfile"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// partOf is what a member writes: bytes that tell where they are and whose.
func partOf(pe, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + 31*pe)
	}
	return b
}

// TestWriteParts: parts that end within blocks of the file and at their ends, many in one block, and none.
func TestWriteParts(t *testing.T) {
	const block = 64 << 10
	path := filepath.Join(t.TempDir(), "file")
	for _, sizes := range [][]int{
		{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 5, 0, 0}, {block, block, 2 * block, block}, {block - 1, 1, block + 1, block},
		{3*block + 5, 7, 5 * block, 0}, {10, 3 * block, 10, 2*block - 30}, {10 << 20, 100, 100, 1},
	} {
		for _, piece := range []int{1 << 30, 1000} {
			if piece == 1000 && sizes[0] > 1<<20 {
				continue
			}
			pgastest.RunGoroutines(t, len(sizes), func(ctx context.Context, w *pgas.World) error {
				return writeParts(ctx, w, path, sizes, piece)
			})
		}
	}
}

// writeParts writes parts of some sizes in pieces, and compares the file.
func writeParts(ctx context.Context, w *pgas.World, path string, sizes []int, piece int) error {
	mine := partOf(w.PE(), sizes[w.PE()])
	err := jointfile.Write(ctx, w.Team(), "test", path, int64(len(mine)), func(out io.Writer) error {
		for len(mine) > 0 {
			n, err := out.Write(mine[:min(piece, len(mine))])
			if err != nil {
				return err
			}
			mine = mine[n:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	var want []byte
	for pe, size := range sizes {
		want = append(want, partOf(pe, size)...)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("parts of %v bytes are a file of %d (%w)", sizes, len(got), err)
	}
	return w.Barrier(ctx)
}

// TestWriteFails: whichever member fails, all have its error, the older file stays, and nothing else is left.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	for bad := range 3 {
		for what, f := range map[string]func(out io.Writer) error{
			"the disk is full":      func(out io.Writer) error { out.Write([]byte("a")); return errors.New("the disk is full") },
			"5 bytes of a part are": func(out io.Writer) error { _, err := out.Write([]byte("short")); return err },
			"a part has more bytes": func(out io.Writer) error { _, err := out.Write([]byte("more than ten")); return err },
		} {
			pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
				err := jointfile.Write(ctx, w.Team(), "test", path, 10, func(out io.Writer) error {
					if w.PE() == bad {
						return f(out)
					}
					_, err := out.Write([]byte("0123456789"))
					return err
				})
				want := fmt.Sprintf("writing %s: PE %d (host %s): %s", path, bad, w.HostOf(bad), what)
				if err == nil || !bytes.HasPrefix([]byte(err.Error()), []byte(want)) {
					return fmt.Errorf("%w, want %q", err, want)
				}
				return w.Barrier(ctx)
			})
		}
	}
	left, err := os.ReadDir(dir)
	if text, _ := os.ReadFile(path); err != nil || len(left) != 1 || string(text) != "older" {
		t.Errorf("left are %v, and the older file has %q (%v)", left, text, err)
	}
}

// TestWriteCanceled: a context that ends while the parts are written leaves nothing.
func TestWriteCanceled(t *testing.T) {
	dir := t.TempDir()
	stop := errors.New("stop")
	body := func(ctx context.Context, w *pgas.World) error {
		ctx, cancel := context.WithCancelCause(ctx)
		return jointfile.Write(ctx, w.Team(), "test", filepath.Join(dir, "file"), 10, func(out io.Writer) error {
			cancel(stop)
			_, err := out.Write([]byte("0123456789"))
			return err
		})
	}
	if err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, body); err == nil {
		t.Error("it ended well")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v (%v)", left, err)
	}
}

// TestWritePanics: a member that panics leaves nothing.
func TestWritePanics(t *testing.T) {
	dir := t.TempDir()
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) (err error) {
		defer func() { err = w.Recovered(recover()) }()
		return jointfile.Write(ctx, w.Team(), "test", filepath.Join(dir, "file"), 10, func(io.Writer) error {
			w.Team().ShareOf(-1, 10) // misuse
			return nil
		})
	})
	if err == nil {
		t.Error("it ended well")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v (%v)", left, err)
	}
}
