package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// longest is the limit of the tests.
const longest = 1000

func TestListFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.go", "a/z.go", "a/a.go", "a.go", "a/deep/er/x_test.go", "README", "go", "x.go.txt"} {
		write(t, filepath.Join(dir, name), "package p\n")
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link.go": "b.go", "linkdir.go": "a", "gone.go": "nowhere", "loop.go": "loop.go"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	files, unreadable, err := List(dir)
	want := []string{"a/a.go", "a/deep/er/x_test.go", "a/z.go", "a.go", "b.go", "gone.go", "link.go", "loop.go"}
	if err != nil || len(unreadable) > 0 || !slices.Equal(files, want) {
		t.Errorf("got %q, unreadable %v, error %v; want %q", files, unreadable, err, want)
	}
}

func TestListOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.go")
	write(t, path, "package p\n")
	files, _, err := List(path)
	if err != nil || len(files) != 1 || filepath.Join(path, files[0]) != path {
		t.Errorf("got %q, error %v", files, err)
	}
}

func TestSourceTree(t *testing.T) {
	if dir, err := Tree("here"); dir != "here" || err != nil {
		t.Errorf("-input here: %q, %v", dir, err)
	}
	t.Setenv("GOROOT", "")
	dir, err := Tree("")
	if err != nil || !isDir(filepath.Join(dir, "fmt")) {
		t.Errorf("GOROOT of this binary: %q, %v", dir, err)
	}
	t.Setenv("GOROOT", filepath.Join(t.TempDir(), "no-go-here"))
	if dir, err := Tree(""); err == nil && isDir(dir) {
		t.Errorf("a GOROOT without source: %q", dir)
	}
	t.Setenv("PATH", "")
	if _, err := Tree(""); err == nil || !strings.Contains(err.Error(), "-input") {
		t.Errorf("no go command: error %v", err)
	}
}

func TestEachIdentifier(t *testing.T) {
	for _, c := range []struct {
		src, want  string
		wellFormed bool
		tooLong    int
	}{
		{"package p; var _, x = len(p.q), true // comment words", "p _ x len p q true", true, 0},
		{"世界 := func(é string) { goto L; L: }", "世界 é string L L", true, 0},
		{"", "", true, 0},
		{"a \x00 b", "a b", false, 0},
		{"a 'unterminated", "a", false, 0},
		{"x " + strings.Repeat("y", longest+1) + " z", "x z", true, 1},
	} {
		var got []string
		wellFormed, tooLong := EachIdentifier([]byte(c.src), longest, func(name string) { got = append(got, name) })
		if strings.Join(got, " ") != c.want || wellFormed != c.wellFormed || tooLong != c.tooLong {
			t.Errorf("%.60q: got %q, well-formed %v, %d too long; want %q, %v, %d", c.src, got, wellFormed, tooLong, c.want, c.wellFormed, c.tooLong)
		}
	}
}

func TestCompare(t *testing.T) {
	want := map[string]int64{"a": 1, "b": 2, "c": 3}
	for _, c := range []struct {
		name          string
		table         []Frequency
		agree, differ int
	}{
		{"same", []Frequency{{"c", 3}, {"a", 1}, {"b", 2}}, 3, 0},
		{"lost", []Frequency{{"a", 1}, {"b", 2}}, 2, 1},
		{"empty", nil, 0, 3},
		{"invented", []Frequency{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}}, 3, 1},
		{"wrong", []Frequency{{"a", 1}, {"b", 1}, {"c", 3}}, 2, 1},
		{"twice", []Frequency{{"a", 1}, {"a", 1}, {"b", 2}, {"c", 3}}, 3, 1},
	} {
		v := Compare(c.table, want)
		if v.Agree != c.agree || v.Differ != c.differ || (v.Err() == nil) != (c.differ == 0) || len(v.Sample) != c.differ {
			t.Errorf("%s: %+v, error %v; want %d to agree, %d to differ", c.name, v, v.Err(), c.agree, c.differ)
		}
	}
}
