package kinds_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestAlloc: the lock of each kind is of the type that the table says, has readers if the table says so, works, and
// can be freed.
func TestAlloc(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		for _, k := range kinds.All() {
			l, free, err := k.Alloc(ctx, w, kinds.Options{Home: 1})
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			if got := reflect.TypeOf(l).Elem().Name(); got != k.Type {
				return fmt.Errorf("%s is a *locks.%s, and the table says %s", k.Name, got, k.Type)
			}
			if _, rw := l.(locks.RWLock); rw != k.Readers {
				return fmt.Errorf("%s is a locks.RWLock: %t; the table says %t", k.Name, rw, k.Readers)
			}
			if _, serves := l.(interface{ Serve(context.Context) error }); serves != k.Serves {
				return fmt.Errorf("%s has Serve: %t; the table says %t", k.Name, serves, k.Serves)
			}
			if !k.Serves {
				if err := l.Lock(ctx); err != nil {
					return fmt.Errorf("%s: %w", k.Name, err)
				}
				l.Unlock()
			}
			if err := errors.Join(w.Barrier(ctx), free(ctx)); err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
		}
		return nil
	})
}

// TestEveryLock: the table has each type of package locks that says that it is a Lock or an RWLock, and no other.
func TestEveryLock(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	says := regexp.MustCompile(`(?m)^var _ (?:RW)?Lock = \(\*(\w+)\)\(nil\)$`)
	var types []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range says.FindAllSubmatch(text, -1) {
			types = append(types, string(m[1]))
		}
	}
	var listed []string
	for _, k := range kinds.All() {
		listed = append(listed, k.Type)
	}
	slices.Sort(types)
	slices.Sort(listed)
	if !slices.Equal(types, listed) {
		t.Errorf("package locks has the locks %v, and the table of kinds.go has %v", types, listed)
	}
}

// page is the page about the locks.
const page = "../../docs/packages/locks.md"

// TestPageHasTheTable: docs/packages/locks.md has the locks of the table with their papers, and no others, in the
// order of the table.
func TestPageHasTheTable(t *testing.T) {
	var want []string
	for _, k := range kinds.All() {
		want = append(want, fmt.Sprintf("`%s` (%s) | %s %s", k.Type, k.Name, k.Paper.Key, k.Section))
	}
	if got := rows(t, "| lock | paper |", 2); !slices.Equal(got, want) {
		t.Errorf("the table of locks in %s is\n%s\nand that of kinds.go\n%s", page, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPageHasThePapers: docs/packages/locks.md names each paper, and no others.
func TestPageHasThePapers(t *testing.T) {
	var want []string
	for _, p := range kinds.Papers() {
		want = append(want, fmt.Sprintf("%s | %s: %s. %s", p.Key, p.Authors, p.Title, p.Where))
	}
	if got := rows(t, "| | |", 2); !slices.Equal(got, want) {
		t.Errorf("the papers in %s are\n%s\nand those of papers.go\n%s", page, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	used := map[kinds.Paper]bool{}
	for _, k := range kinds.All() {
		used[k.Paper] = true
	}
	if got := slices.Collect(maps.Keys(used)); len(got) != len(kinds.Papers()) {
		t.Errorf("the locks are from %d papers, and papers.go has %d", len(got), len(kinds.Papers()))
	}
}

// rows returns the first cells of each row of the first table of the page whose heading begins so.
func rows(t *testing.T, heading string, cells int) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n"+heading)
	if !found {
		t.Fatalf("%s has no table that begins with %q", page, heading)
	}
	for _, row := range strings.Split(table, "\n")[2:] {
		parts := strings.Split(strings.Trim(row, "| "), " | ")
		if !strings.HasPrefix(row, "| ") || len(parts) < cells {
			return all
		}
		all = append(all, strings.Join(parts[:cells], " | "))
	}
	return all
}
