package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAttributesAreTheLists: every package has what it had.
func TestAttributesAreTheLists(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	compare := func(what string, wanted func(string, []string) bool, list, without []string) {
		got, err := having(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		want, err := packages(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		if without != nil {
			no, err := packages(t.Context(), without)
			if err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, func(p string) bool { return slices.Contains(no, p) })
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: by attributes %q, by lists %q", what, got, want)
		}
	}
	compare("race", isRaced, raced, unraced)
	compare("whole", with("nocgo=whole"), wholeWithoutC, nil)
	compare("short", with("nocgo=short"), shortWithoutC, nil)
	compare("computes", with("computes"), computations, nil)
	compare("waits", with("waits"), timeouts, nil)
}

// TestAttributes: what is wrong is told with its file.
func TestAttributes(t *testing.T) {
	for text, want := range map[string]string{
		"// Package p is one.\n//\n//ci:norace nocgo=short\npackage p\n\n//ci:other\n": "",
		"//ci:fast\npackage p\n":               "no attribute fast",
		"//ci:race\n\n//ci:waits\npackage p\n": "two lines",
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "p.go"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := attributes(root)
		switch {
		case want == "" && (err != nil || !slices.Equal(got["."], []string{"norace", "nocgo=short"})):
			t.Errorf("%q has %v (%v)", text, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "p.go")):
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestInherited: a line with below counts for packages below that have none, and no other line does.
func TestInherited(t *testing.T) {
	all := map[string][]string{"a": {"below", "computes"}, "a/b": {"race"}, "d": {"waits"}}
	for dir, want := range map[string]string{"a": "below computes", "a/c/e": "below computes", "a/b": "race", "a/b/f": "below computes", "d/g": "", "h": ""} {
		if got := strings.Join(inherited(all, dir), " "); got != want {
			t.Errorf("%s has %q, want %q", dir, got, want)
		}
	}
}
