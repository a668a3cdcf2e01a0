package input_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/input"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// folder makes a folder that all PEs use, until remove.
func folder(ctx context.Context, w *pgas.World) (dir string, remove func(), err error) {
	if w.PE() == 0 {
		if dir, err = os.MkdirTemp("", "pgas-writeshare-"); err != nil {
			return "", nil, err
		}
	}
	name, err := pgas.BroadcastSlice(ctx, w.Team(), []byte(dir), 0)
	return string(name), func() {
		if w.PE() == 0 {
			os.RemoveAll(dir)
		}
	}, err
}

// TestWriteShare: shares of any length are the file, on every kind of PE; each replaces the one before.
func TestWriteShare(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		dir, remove, err := folder(ctx, w)
		if err != nil {
			return err
		}
		defer remove()
		path := filepath.Join(dir, "file")
		for _, lengths := range [][]int{{0, 0, 0, 0}, {3, 0, 100, 5}, {0, 40_000, 90_000, 1}} {
			text := make([]string, len(lengths))
			for pe, n := range lengths {
				text[pe] = strings.Repeat(string(rune('a'+pe)), n)
			}
			if err := input.WriteShare(ctx, w.Team(), path, []byte(text[w.PE()])); err != nil {
				return err
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != strings.Join(text, "") {
				return fmt.Errorf("shares of %v bytes are a file of %d (%w)", lengths, len(got), err)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestWriteShareRead: what is written in shares is read in shares, by a team in another order than the PEs.
func TestWriteShareRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	pgastest.RunGoroutines(t, 4, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitList(ctx, []int{3, 1, 0})
		if err != nil || team == nil {
			return err
		}
		if err := input.WriteShare(ctx, team, path, fmt.Appendf(nil, "line of PE %d\n", w.PE())); err != nil {
			return err
		}
		return compareShares(ctx, team, path, "line of PE 3\nline of PE 1\nline of PE 0\n", input.Lines)
	})
}

// TestWriteShareFails: a member that cannot write is told on all, an older file stays, and nothing else is left.
func TestWriteShareFails(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name        string
		bad         int
		path, want  string
		is          error
		notAnywhere bool // on no member
	}{
		{"no folder", 0, filepath.Join(dir, "none", "file"), "PE 0 (host localhost): open ", fs.ErrNotExist, true},
		{"a folder", 0, dir, "PE 0 (host localhost): " + dir + " is no regular file", nil, true},
		{"another folder", 1, filepath.Join(other, "file"), "PE 1 (host localhost): open ", fs.ErrNotExist, false},
		{"no such folder", 2, filepath.Join(other, "none", "file"), "but PE 0 (host localhost) has made it", fs.ErrNotExist, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
				mine := path
				if test.notAnywhere || w.PE() == test.bad {
					mine = test.path
				}
				err := input.WriteShare(ctx, w.Team(), mine, []byte("some text"))
				if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
					return fmt.Errorf("PE %d: %w, want %q", w.PE(), err, test.want)
				}
				return w.Barrier(ctx) // the team can be used still
			})
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "..", "*", "*"))
	if text, _ := os.ReadFile(path); err != nil || len(left) != 1 || string(text) != "older" {
		t.Errorf("left are %q, and the older file has %q (%v)", left, text, err)
	}
}

// TestWriteShareNamesHost: hosts that have different folders.
func TestWriteShareNamesHost(t *testing.T) {
	pgastest.RunHosts(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		dir, remove, err := folder(ctx, w)
		if err != nil {
			return err
		}
		defer remove()
		if w.PE() == 1 {
			dir = filepath.Join(dir, "other")
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
		}
		err = input.WriteShare(ctx, w.Team(), filepath.Join(dir, "file"), nil)
		want := "PE 1 (host " + w.HostOf(1) + "): open "
		const remedy = ") has made it: the hosts must have the folder in common"
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), remedy) {
			return fmt.Errorf("%w, want %q", err, want)
		}
		return w.Barrier(ctx)
	})
}

// TestWriteShareDiffers: a member that reads while others write is told on all.
func TestWriteShareDiffers(t *testing.T) {
	dir := t.TempDir()
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		path := filepath.Join(dir, "file")
		calls := []func() error{
			func() error { return input.WriteShare(ctx, w.Team(), path, nil) },
			func() error { _, err := input.ReadShare(ctx, w.Team(), path, input.Lines); return err },
		}
		err := calls[w.PE()/2]()
		var differ *pgas.MismatchError
		if !errors.As(err, &differ) || len(differ.Calls) != 2 {
			return fmt.Errorf("PE %d got %w", w.PE(), err)
		}
		return nil
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v (%v)", left, err)
	}
}
