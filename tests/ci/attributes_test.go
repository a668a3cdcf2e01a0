package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAttributesOfThisRepository: they are all known, and each step has packages.
func TestAttributesOfThisRepository(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for step, wanted := range map[string]func(string, []string) bool{"race": isRaced, "nocgo": with("nocgo=whole"),
		"nocgo, short": with("nocgo=short"), "compute": with("computes"), "timeouts": with("waits"), "clusters": with("clusters"), "ucx118": with("ucx"),
		"test": not(with("computes", "waits", "clusters", "long")), "test, in turn": with("long")} {
		if found, err := having(t.Context(), wanted); err != nil || len(found) == 0 {
			t.Errorf("the step %s has the packages %q (%v)", step, found, err)
		}
	}
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

// TestAttributesOfTests: they stand in the comment of a test, and what is wrong is told with its file.
func TestAttributesOfTests(t *testing.T) {
	for text, want := range map[string]string{
		"// TestA is one.\n//\n//ci:weekly ucx=mpirun|prun\n": "",
		"//ci:fast\n":             "no attribute fast",
		"//ci:ucx\n//ci:weekly\n": "two lines",
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "p_test.go"), []byte("package p\n\n"+text+"func TestA(t *testing.T) {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := markedFuncs(root, anyTest)
		switch {
		case want == "" && (err != nil || len(got) != 1 || !slices.Equal(got[0].words, []string{"weekly", "ucx=mpirun|prun"})):
			t.Errorf("%q has %v (%v)", text, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "p_test.go")):
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
