package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTable holds the table of the documentation to what is counted.
func TestTable(t *testing.T) {
	ours, err := counts("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := replaced(string(text), table(ours))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("%s has another table than\n%s`go run ./tests/sloc -write` puts it there", page, table(ours))
	}
}

// TestGoal: a version over coherent memory changes no more of its program than MENPS does in the paper.
func TestGoal(t *testing.T) {
	ours, err := counts("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) == 0 {
		t.Fatal("no program was counted")
	}
	for _, p := range paper() {
		if c, ok := ours[p.name]; ok && (c.added > p.menps.added || c.removed > p.menps.removed) {
			t.Errorf("%s: %s, MENPS %s", p.name, c.change(), p.menps.change())
		}
	}
}

func TestLines(t *testing.T) {
	got, err := lines([]byte("// Package x is.\npackage x\n\nimport \"fmt\" // prints\n\n/* a\nb */\ntype t struct {\n\ta int // of it\n\n\tlonger   string\n}\n\n// f does.\nfunc f() {\n\t// says\n\tfmt.Println(\"// no comment\")\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"package x", `import "fmt"`, "type t struct {", "a int", "longer string", "}", "func f() {", `fmt.Println("// no comment")`, "}"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		added, removed int
	}{
		{"", "", 0, 0},
		{"a b c", "a b c", 0, 0},
		{"", "a b", 2, 0},
		{"a b", "", 0, 2},
		{"a b c", "a x c", 1, 1},
		{"a b c d", "b d e", 1, 2},
		{"a a b", "b a a", 1, 1},
		{"x a y b z", "a b", 0, 3},
	} {
		added, removed := difference(strings.Fields(c.a), strings.Fields(c.b))
		if added != c.added || removed != c.removed {
			t.Errorf("from %q to %q: +%d -%d, want +%d -%d", c.a, c.b, added, removed, c.added, c.removed)
		}
	}
}

// TestReplaced: a page without the place for the table is an error, and the rest of a page stays.
func TestReplaced(t *testing.T) {
	if _, err := replaced("no table", "x\n"); err == nil {
		t.Error("a page without a table gives no error")
	}
	got, err := replaced("a\n"+begin+"old\n"+end+"z\n", "new\n")
	if want := "a\n" + begin + "new\n" + end + "z\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
