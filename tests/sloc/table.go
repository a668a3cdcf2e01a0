package main

// The table: the paper's figures beside ours, and its place in a page of the documentation.

import (
	"fmt"
	"strings"
)

// row is a line of Table V of the paper: W. Endo, S. Sato and K. Taura, "MENPS: A Decentralized Distributed Shared
// Memory Exploiting RDMA", 2020.
type row struct {
	name    string
	menps   count
	argodsm count // zero where the paper has none
}

// paper returns Table V.
func paper() []row {
	return []row{
		{"EP", count{269, 80, 16}, count{269, 497, 90}},
		{"CG", count{921, 141, 33}, count{921, 945, 444}},
		{"FT", count{1263, 166, 24}, count{}},
		{"IS", count{710, 115, 34}, count{}},
		{"BT", count{3713, 66, 33}, count{}},
	}
}

// change returns c's change as the paper writes it.
func (c count) change() string {
	if c == (count{}) {
		return "–"
	}
	return fmt.Sprintf("+%d −%d", c.added, c.removed)
}

// table returns the table in Markdown.
func table(ours map[string]count) string {
	var b strings.Builder
	b.WriteString("| program | lines, paper | MENPS | ArgoDSM | lines, ours | ours |\n|---|---|---|---|---|---|\n")
	for _, p := range paper() {
		lines := "–"
		c, ok := ours[p.name]
		if ok {
			lines = fmt.Sprint(c.lines)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", p.name, p.menps.lines, p.menps.change(), p.argodsm.change(), lines, c.change())
	}
	return b.String()
}

// The table stands between these lines of the page.
const (
	begin = "<!-- tests/sloc: begin -->\n"
	end   = "<!-- tests/sloc: end -->\n"
)

// replaced returns the page with another table.
func replaced(page, table string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("the page has no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + table + end + after, nil
}
