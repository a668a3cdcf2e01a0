package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// looksAt generates for a record of the given depth, each level of which holds the next twice, and returns how
// many looks into types that took, and the problems.
func looksAt(t *testing.T, depth int, bottom string) (int, problems) {
	t.Helper()
	base, err := filepath.Abs("testdata") // inside of the module
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "deep*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var src strings.Builder
	src.WriteString("package deep\n")
	for i := range depth {
		fmt.Fprintf(&src, "\n//pgas:symmetric\ntype T%d struct{ A, B T%d }\n", i, i+1)
	}
	fmt.Fprintf(&src, "\n//pgas:symmetric\ntype T%d struct{ A %s }\n", depth, bottom)
	if err := os.WriteFile(filepath.Join(dir, "deep.go"), []byte(src.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := generate(t.Context(), base, testEnv(), nil, []string{"./" + filepath.Base(dir)})
	if err != nil {
		t.Fatal(err)
	}
	return res.looks, res.problems
}

// TestDeepRecords: the work is linear in the depth, counted in looks into types. Without memoization each
// further level would double it.
func TestDeepRecords(t *testing.T) {
	for _, bottom := range []string{"int64", "string"} {
		few, first := looksAt(t, 6, bottom)
		many, second := looksAt(t, 14, bottom)
		for _, p := range [][]string{texts(first), texts(second)} {
			if (bottom == "string") != (len(p) > 0) {
				t.Errorf("%s at the bottom: problems %q", bottom, p)
			}
		}
		if many > 8*few { // a product of records, fields and path at the most
			t.Errorf("%s at the bottom: %d looks at depth 6 and %d at depth 14", bottom, few, many)
		}
	}
}

func texts(list problems) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.msg)
	}
	return out
}
