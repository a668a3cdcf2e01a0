package main

// Golden tests: each folder of testdata/cases is a package. Its generated files are checked in beside
// their sources, so that they can be built as well as compared; a case of bad input holds want.txt in
// their place, with every problem. After a change that is meant, run
//
//	go test ./cmd/pgasgen -run TestCases -rewrite
//
// and read the difference.

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

var rewrite = flag.Bool("rewrite", false, "write what is generated now over the golden files")

const casesDir = "testdata/cases"

// testEnv makes a case with cgo the same everywhere. No C compiler is run.
func testEnv() []string { return append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH=amd64") }

func TestCases(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	base, err := filepath.Abs(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	cases := caseDirs(t)
	res, err := generate(ctx, base, testEnv(), nil, cases)
	if err != nil {
		t.Fatal(err)
	}
	byCase := map[string]*result{}
	of := func(path string) *result {
		dir := filepath.Dir(path)
		if byCase[dir] == nil {
			byCase[dir] = &result{}
		}
		return byCase[dir]
	}
	for _, o := range res.outputs {
		r := of(o.path)
		r.outputs = append(r.outputs, o)
	}
	for _, o := range res.orphans {
		r := of(o.path)
		r.orphans = append(r.orphans, o)
	}
	for _, p := range res.problems {
		r := of(p.pos.Filename)
		r.problems = append(r.problems, p)
	}
	for _, pattern := range cases {
		dir := filepath.Join(base, pattern)
		t.Run(strings.TrimPrefix(pattern, "./"), func(t *testing.T) {
			r := byCase[dir]
			if r == nil {
				t.Fatal("nothing was generated and nothing rejected")
			}
			compareProblems(t, dir, r)
			compareOutputs(t, dir, r)
		})
		delete(byCase, dir)
	}
	for dir, r := range byCase {
		t.Errorf("%s is no case, but has %d outputs, problems %v", dir, len(r.outputs), r.problems)
	}
}

// caseDirs returns the packages to generate for. Package raw exists to be imported.
func caseDirs(t *testing.T) []string {
	var dirs []string
	err := filepath.WalkDir(casesDir, func(path string, d os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			rel, _ := filepath.Rel(casesDir, filepath.Dir(path))
			dirs = append(dirs, "./"+rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dirs)
	// Packages that a case is about, and that generate nothing themselves.
	helpers := []string{"./badfields/other", "./badtypes/deep", "./names/v", "./ungenerated/raw"}
	return slices.DeleteFunc(slices.Compact(dirs), func(d string) bool { return slices.Contains(helpers, d) })
}

func compareProblems(t *testing.T, dir string, r *result) {
	t.Helper()
	var got strings.Builder
	for _, p := range r.problems {
		got.WriteString(p.relative(dir) + "\n")
	}
	path := filepath.Join(dir, "want.txt")
	if *rewrite && got.Len() > 0 {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if *rewrite {
		_ = os.Remove(path)
	}
	want, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	for _, p := range r.problems {
		if !strings.Contains(p.msg, "; ") {
			t.Errorf("no remedy in: %s", p.msg)
		}
	}
}

func compareOutputs(t *testing.T, dir string, r *result) {
	t.Helper()
	if *rewrite && filepath.Base(dir) != "stale" {
		for _, c := range r.changes() {
			if err := c.apply(); err != nil {
				t.Fatal(err)
			}
		}
	}
	stale := r.changes()
	if filepath.Base(dir) == "stale" {
		if len(stale) != 1 || stale[0].why != "is stale" {
			t.Errorf("changes are %v, want stale_pgas.go to be stale", stale)
		}
		return
	}
	for _, c := range stale {
		t.Errorf("%s %s; it would be\n%s", filepath.Base(c.path), c.why, c.content)
	}
}

// TestDeterministic generates twice and compares.
func TestDeterministic(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var runs [2]map[string]string
	for i := range runs {
		res, err := generate(ctx, casesDir, testEnv(), nil, []string{"./nested/...", "./plain", "./files", "./names"})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.problems) > 0 {
			t.Fatal(res.problems)
		}
		runs[i] = map[string]string{}
		for _, o := range res.outputs {
			runs[i][o.path] = string(o.content)
		}
	}
	if len(runs[0]) == 0 || !maps.Equal(runs[0], runs[1]) {
		t.Errorf("two runs differ, or generate nothing: %d and %d files", len(runs[0]), len(runs[1]))
	}
}

// TestFresh holds every checked-in generated file of the module to the generator, the templates' among
// them.
func TestFresh(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	res, err := generate(ctx, root, testEnv(), nil, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.problems {
		t.Error(p.relative(root))
	}
	for _, c := range res.changes() {
		t.Errorf("%s %s; run: go tool pgasgen %s", short(root, c.path), c.why, packageArg(root, c.pkg))
	}
	if !slices.ContainsFunc(res.outputs, func(o output) bool { return filepath.Base(o.pkg) == "starter" }) {
		t.Error("the templates were not generated for")
	}
}

// TestNarrow generates for a 32-bit architecture, where Go aligns words of 8 bytes to 4.
func TestNarrow(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	env := append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	res, err := generate(ctx, casesDir, env, nil, []string{"./atomics", "./design"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range res.problems {
		got = append(got, p.msg)
	}
	for _, want := range []string{
		"field I64 has 8 bytes, but GOARCH=386 aligns it to 4 only; generate for a 64-bit GOARCH",
		"field Ready has 8 bytes, but GOARCH=386 aligns it to 4 only; generate for a 64-bit GOARCH",
		"field I: int has 4 bytes with GOARCH=386 and 8 elsewhere; use int32, int64, uint32 or uint64",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	for _, p := range res.problems {
		if strings.Contains(p.msg, "I32") {
			t.Errorf("a word of 4 bytes is rejected: %s", p.msg)
		}
	}
}

// TestBuilds compiles the golden output, and runs go vet on it.
func TestBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the compiler")
	}
	var patterns []string
	for _, dir := range caseDirs(t) {
		_, err := os.Stat(filepath.Join(casesDir, dir, "want.txt"))
		if os.IsNotExist(err) && dir != "./stale" {
			patterns = append(patterns, dir)
		}
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"vet"}, patterns...)...)
	cmd.Dir = casesDir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// A stale file must not compile.
	cmd = exec.CommandContext(ctx, "go", "build", "./stale")
	cmd.Dir = casesDir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "stale_pgas.go") {
		t.Errorf("a stale generated file compiles: %v\n%s", err, out)
	}
}

// TestInlines holds the hot accessors to the compiler's budget: inlined, a put on this host is one
// store in the caller.
func TestInlines(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the compiler")
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=-m", "./design", "./views")
	cmd.Dir = casesDir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, method := range []string{
		"CellSym.At", "CellSym.Len", "CellSym.On", "CellRef.On", "CellRef.Local",
		"CellRef.PutSum", "CellRef.GetSum", "CellRef.SumRef", "CellRef.Count", "CellRef.Ready", "CellRef.Halo",
		"QueueSym.At", "QueueRef.On", "QueueRef.Tail", "QueueRef.Next", "QueueRef.Load", "QueueRef.Slots", "QueueRef.OwnerRef", "QueueRef.Span",
	} {
		if !strings.Contains(string(out), "can inline "+method+"\n") {
			t.Errorf("%s does not inline; go build -gcflags=-m=2 says why", method)
		}
	}
}

func TestNameConstraint(t *testing.T) {
	for name, want := range map[string]string{
		"cell.go":             "",
		"linux.go":            "",
		"cell_linux.go":       "linux",
		"cell_arm64.go":       "arm64",
		"cell_linux_amd64.go": "linux && amd64",
		"a_b_windows_386.go":  "windows && 386",
		"cell_amd64_linux.go": "linux",
		"cell_table.go":       "",
		"linux_amd64.go":      "amd64",
	} {
		got := ""
		if expr := nameConstraint(name); expr != nil {
			got = expr.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestIsGenerated(t *testing.T) {
	for _, c := range []struct {
		path, src string
		want      bool
	}{
		{"cell_pgas.go", "// " + header + "\n\npackage p\n", true},
		{"cell_pgas.go", "//go:build linux\n\n// " + header + "\n\npackage p\n", true},
		{"cell.go", "// " + header + "\n\npackage p\n", false},
		{"cell_pgas.go", "package p\n\n// " + header + "\n", false},
		{"cell_pgas.go", "// Code generated by another; DO NOT EDIT.\n\npackage p\n", false},
		{"cell_pgas.go", "", false},
	} {
		if got := isGenerated(c.path, c.src); got != c.want {
			t.Errorf("isGenerated(%q, %q) = %v", c.path, c.src, got)
		}
	}
}
