package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// The page's table of variables is the table in boot, and its flags exist.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/pgasrun.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| variable | default | value | meaning |\n|---|---|---|---|\n")
	for _, v := range boot.Variables() {
		if !v.Private {
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", v.Name, v.Default, v.Unit, v.Meaning)
		}
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/use/pgasrun.md must contain\n%s", &table)
	}
	var usage strings.Builder
	for _, word := range strings.Fields(strings.NewReplacer("`", " ", "(", " ", ":", " ").Replace(string(page))) {
		if len(word) > 2 && word[0] == '-' && word[1] >= 'a' && word[1] <= 'z' {
			usage.WriteString(word + " ")
		}
	}
	for _, flag := range []string{"-hosts", "-hostfile", "-netns", "-launch", "-boot-addr", "-tag", "-keep-going", "-unbound", "-topo", "-timeout", "-grace", "-env"} {
		if !strings.Contains(usage.String(), flag) {
			t.Errorf("docs/use/pgasrun.md says nothing of %s", flag)
		}
		if _, err := parse([]string{flag + "=1", "program"}); err != nil && strings.Contains(err.Error(), "not defined") {
			t.Errorf("%v", err)
		}
	}
}
