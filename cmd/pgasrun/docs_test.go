package main

import (
	"os"
	"regexp"
	"testing"
)

// TestDocs: the page says something of every flag.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/pgasrun.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := flagSets()["pgasrun"]
	for _, g := range flags.groups {
		for _, name := range g.names {
			if !regexp.MustCompile("[ `]-" + name + "[ `,=:;]").Match(page) {
				t.Errorf("docs/use/pgasrun.md says nothing of -%s", name)
			}
		}
	}
}
