// Package manualtest holds the manual pages of a command to what it prints with -h.
package manualtest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gopgas/gopgas/cmd/internal/manual"
)

// Fresh fails t if a page of dir is not what the command says now.
func Fresh(t testing.TB, c *manual.Command, dir string) {
	t.Helper()
	for name, want := range c.Pages() {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/use/man/%s is not what `%s -h` says now (%v): run `go generate work`", name, c.Name, err)
		}
	}
}

// HasFlags fails t if a page lacks a flag.
func HasFlags(t testing.TB, c *manual.Command, flags *flag.FlagSet) {
	t.Helper()
	page := c.Page()
	flags.VisitAll(func(f *flag.Flag) {
		name := regexp.QuoteMeta(regexp.MustCompile(`-`).ReplaceAllString(f.Name, `\-`))
		if n := len(regexp.MustCompile(`(?m)^\.B \\-`+name+`($| )`).FindAllString(page, -1)); n != 1 {
			t.Errorf("the page of %s has -%s %d times, want once: does -h print it, under one heading?", c.Name, f.Name, n)
		}
	})
}
