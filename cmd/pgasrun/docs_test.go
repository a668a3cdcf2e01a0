package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestDocs: the page's tables of variables are those of boot, and it says something of every flag.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/pgasrun.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, audience := range []boot.Audience{boot.Users, boot.Developers} {
		var table strings.Builder
		table.WriteString("| variable | default | value | meaning |\n|---|---|---|---|\n")
		for _, v := range boot.Variables() {
			if v.For == audience {
				fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", v.Name, v.Default, v.Unit, v.Meaning)
			}
		}
		if !strings.Contains(string(page), table.String()) {
			t.Errorf("docs/use/pgasrun.md must contain\n%s", &table)
		}
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
