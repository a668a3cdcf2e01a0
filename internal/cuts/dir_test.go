package cuts_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/cuts/storetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, s cuts.Store) []string {
	t.Helper()
	all, err := s.List(t.Context(), "")
	must(t, err)
	return all
}

// TestDir: a directory is a Store. It is made when it is needed, only its owner may read it, and nothing is left of
// what was removed or dropped.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	s, ctx := cuts.Dir(path), t.Context()
	storetest.Run(t, s)
	if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
	must(t, cuts.WriteFile(ctx, s, "c/one", []byte("text")))
	for file, want := range map[string]fs.FileMode{"c/one": 0o600, "c": 0o700, ".": 0o700} {
		info, err := os.Stat(filepath.Join(path, file))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

// TestDirNames: no name leads out of the directory, and what is no file is not opened.
func TestDirNames(t *testing.T) {
	path := t.TempDir()
	must(t, os.Mkdir(filepath.Join(path, "folder"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(path, "pipe"), 0o600))
	s := cuts.Dir(path)
	for _, name := range []string{"", "../x", "/etc/passwd", "a/../../x", "x.part"} {
		_, created := s.Create(t.Context(), name)
		_, opened := s.Open(t.Context(), name)
		if removed := s.Remove(t.Context(), name); created == nil || opened == nil || removed == nil {
			t.Errorf("%q: %v, %v, %v", name, created, opened, removed)
		}
	}
	for _, name := range []string{"folder", "pipe"} {
		if _, err := s.Open(t.Context(), name); err == nil {
			t.Errorf("a %s is opened", name)
		}
	}
}

// TestUnfinished: what a PE has begun and not closed goes with the next cut, and not what is being written.
func TestUnfinished(t *testing.T) {
	path := t.TempDir()
	s, ctx := cuts.Dir(path), t.Context()
	for _, name := range []string{"c000003-t0001/pe00000.img", "c000004-t0001.json", "c000009-t0002/pe00001.img", "c000005-t0001/pe00000.img", "job.json"} {
		_, err := s.Create(ctx, name)
		must(t, err)
	}
	for _, c := range []cuts.Cut{{Term: 1, Version: 5}, {Term: 1, Version: 6}, {Term: 2, Version: 7}} {
		m := &cuts.Manifest{Format: cuts.Format, Cut: c, PEs: 1, Images: make([]cuts.File, 1)}
		must(t, m.Write(ctx, s))
		must(t, cuts.WriteFile(ctx, s, cuts.ImageName(c, 0), nil))
	}
	must(t, cuts.RemoveOld(ctx, s, 2, cuts.Cut{Term: 2, Version: 7}))
	var left []string
	must(t, filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(p) == ".part" {
			rel, _ := filepath.Rel(path, p)
			left = append(left, rel)
		}
		return err
	}))
	if len(left) != 2 || !slices.ContainsFunc(left, func(p string) bool { return filepath.Dir(p) == "c000009-t0002" }) {
		t.Errorf("%q is left", left)
	}
	want := []string{"c000006-t0001.json", "c000006-t0001/pe00000.img", "c000007-t0002.json", "c000007-t0002/pe00000.img"}
	if all := names(t, s); !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}

// TestOldIsKept: no cut is removed while a newer one cannot be read.
func TestOldIsKept(t *testing.T) {
	s, ctx := cuts.Dir(t.TempDir()), t.Context()
	for v := range uint64(4) {
		c := cuts.Cut{Term: 1, Version: v + 1}
		must(t, (&cuts.Manifest{Format: cuts.Format, Cut: c, PEs: 1, Images: make([]cuts.File, 1)}).Write(ctx, s))
	}
	must(t, cuts.WriteFile(ctx, s, "c000003-t0001.json", []byte("{")))
	if err := cuts.RemoveOld(ctx, s, 2, cuts.Cut{Term: 1, Version: 4}); err == nil || len(names(t, s)) != 4 {
		t.Errorf("%v, and %q is left", err, names(t, s))
	}
}

// FuzzManifest: whatever a manifest holds, List and Verify return.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"cut":{"Term":1,"Version":2},"pes":1,"images":[{"bytes":3}],"items":[{"name":"a","kind":"b"}]}`))
	f.Add([]byte(`{"format":1,"cut":{"Term":1,"Version":2},"pes":1000000000,"images":[]}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, c := cuts.Dir(t.TempDir()), cuts.Cut{Term: 1, Version: 2}
		must(t, cuts.WriteFile(context.Background(), s, c.String()+".json", b))
		list, err := cuts.List(context.Background(), s)
		if err != nil || len(list) != 1 || list[0].Cut != c {
			t.Fatalf("%v, %v", list, err)
		}
		if cuts.Verify(context.Background(), s, c) == nil {
			t.Fatal("a cut without images is whole")
		}
	})
}
