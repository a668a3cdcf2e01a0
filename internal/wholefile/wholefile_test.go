package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/internal/wholefile"
)

// names returns what is in a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestFile: the older file stays until the new one is closed, or for good if that is aborted.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, test := range []struct {
		text  string
		abort bool
		want  string
	}{{"one", false, "one"}, {"two", true, "one"}, {"three", false, "three"}} {
		before, _ := os.ReadFile(path)
		f, err := wholefile.Create(path, 0o640)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(test.text); err != nil {
			t.Fatal(err)
		}
		if now, _ := os.ReadFile(path); string(now) != string(before) {
			t.Errorf("%q before the end of %q", now, test.text)
		}
		if test.abort {
			f.Abort()
		} else if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f.Abort() // which does nothing now
		now, err := os.ReadFile(path)
		if err != nil || string(now) != test.want || len(names(t, dir)) != 1 {
			t.Errorf("%q (%v) beside %q after %q", now, err, names(t, dir), test.text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o640) {
		t.Errorf("%v, %v", info, err)
	}
}

// TestFileReplacesLink: what a link leads to is not touched.
func TestFileReplacesLink(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "link"), filepath.Join(dir, "to")
	if err := errors.Join(os.WriteFile(to, []byte("old"), 0o600), os.Symlink(to, path)); err != nil {
		t.Fatal(err)
	}
	f, err := wholefile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	now, err1 := os.ReadFile(path)
	kept, err2 := os.ReadFile(to)
	if err := errors.Join(err1, err2); err != nil || string(now) != "new" || string(kept) != "old" {
		t.Errorf("%q and %q (%v)", now, kept, err)
	}
}

// TestFileFails: a folder is not replaced, and what fails leaves nothing.
func TestFileFails(t *testing.T) {
	dir := t.TempDir()
	if _, err := wholefile.Create(dir, 0o600); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := wholefile.Create(filepath.Join(dir, "none", "file"), 0o600); err == nil {
		t.Error("a folder that is not there")
	}
	path := filepath.Join(dir, "file")
	f, err := wholefile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // a folder has come meanwhile
		t.Fatal(err)
	}
	if err := f.Close(); err == nil {
		t.Error("a folder was replaced")
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
}
