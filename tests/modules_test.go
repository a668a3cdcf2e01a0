package tests

// What a module inherits that uses this one. A program links package pgas and golang.org/x/sys, but its module graph
// has whatever the go.mod file of this module requires, for commands and tests too. So what needs many modules is a
// module of its own, and go.work builds them together here. A user can install and require them: none has a replace
// directive.

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/gopgas/gopgas/pgas/version"
	"github.com/gopgas/gopgas/tests/built"
)

// inherited are the modules in the graph of a project of pgasgen init, and why. DO NOT ADD ONE TO FIX A BUILD: every
// user inherits it. What needs more is a module of its own.
var inherited = map[string]string{
	"golang.org/x/sys": "system calls, in every program",

	"golang.org/x/tools":       "pgasgen and pgasvet load and type-check packages",
	"golang.org/x/mod":         "pgasgen init writes go.mod; golang.org/x/tools",
	"golang.org/x/sync":        "golang.org/x/tools",
	"golang.org/x/telemetry":   "required by golang.org/x/tools, and not built",
	"golang.org/x/net":         "required by golang.org/x/tools, and not built; tests read pages and DNS",
	"github.com/yuin/goldmark": "required by golang.org/x/tools, and not built",
	"github.com/google/go-cmp": "required by golang.org/x/tools, and not built",

	"github.com/dave/jennifer":           "pgasgen writes Go",
	"go.yaml.in/yaml/v3":                 "pgasrun k8s writes YAML",
	"github.com/google/pprof":            "pgasrun -pprof merges the profiles of PEs",
	"github.com/chzyer/readline":         "required by github.com/google/pprof, and not built",
	"github.com/ianlancetaylor/demangle": "required by github.com/google/pprof, and not built",

	"github.com/rogpeppe/go-internal": "tests of the commands are scripts; not built",
}

// edges is the most lines that go mod graph may print of such a project. It may only fall.
const edges = 37

// TestProjectInheritsLittle looks at the module graph of a project that pgasgen init has written.
func TestProjectInheritsLittle(t *testing.T) {
	dir := initProject(t)
	var got []string
	for _, line := range goLines(t, dir, "list", "-m", "all")[1:] { // without the project itself
		if path := strings.Fields(line)[0]; path != module {
			got = append(got, path)
		}
	}
	if want := slices.Sorted(maps.Keys(inherited)); !slices.Equal(got, want) {
		t.Errorf("a project inherits\n  %s\nand may inherit (inherited in modules_test.go)\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if n := len(goLines(t, dir, "mod", "graph")); n > edges {
		t.Errorf("go mod graph prints %d lines, and %d are allowed", n, edges)
	}
}

// TestProjectIsTidy: go mod tidy changes nothing in a new project, and a program of it has one module besides this one.
func TestProjectIsTidy(t *testing.T) {
	dir := initProject(t)
	if diff := goLines(t, dir, "mod", "tidy", "-diff"); len(diff) > 0 {
		t.Errorf("go mod tidy changes\n%s", strings.Join(diff, "\n"))
	}
	linked := goLines(t, dir, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	slices.Sort(linked)
	if want := []string{module, "golang.org/x/sys"}; !slices.Equal(slices.Compact(linked), want) {
		t.Errorf("the program links %q, want %q", slices.Compact(linked), want)
	}
}

func initProject(t *testing.T) string {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "project")
	out, err := exec.Command("go", "run", module+"/cmd/pgasgen", "init", "-replace", root, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("pgasgen init: %v\n%s", err, out)
	}
	return dir
}

// goLines returns the lines that a go command prints.
func goLines(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PWD="+dir)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && !slices.Contains(args, "-diff") { // which fails if there is a difference
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")[:strings.Count(string(out), "\n")]
}

// TestModulesOfUsers: each module of go.work requires this one at the version of the next release, which go.work
// replaces by the checkout; and none has a directive with which go install refuses a version of it.
func TestModulesOfUsers(t *testing.T) {
	text, err := os.ReadFile("../go.work")
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := work.Replace; len(r) != 1 || r[0].Old.Path != module || r[0].Old.Version != version.Next || r[0].New.Path != "./" {
		t.Errorf("go.work does not replace %s %s, and nothing else, by ./", module, version.Next)
	}
	var used []string
	for _, u := range work.Use {
		used = append(used, filepath.Join("..", u.Path, "go.mod"))
		checkModuleOfUsers(t, filepath.Join("..", u.Path, "go.mod"), module+strings.TrimPrefix(u.Path, "."))
	}
	if found := moduleFiles(t); !slices.Equal(used, found) {
		t.Errorf("go.work uses %q, and the modules outside tests are %q", used, found)
	}
}

func checkModuleOfUsers(t *testing.T, file, path string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if mod.Module.Mod.Path != path {
		t.Errorf("%s is of module %s, want %s", file, mod.Module.Mod.Path, path)
	}
	if len(mod.Replace)+len(mod.Exclude) > 0 {
		t.Errorf("%s has a replace or exclude directive, with which go install does not work from a tag", file)
	}
	if path == module {
		return
	}
	for _, r := range mod.Require {
		if r.Mod.Path == module && r.Mod.Version == version.Next {
			return
		}
	}
	t.Errorf("%s does not require %s %s, the next release: make tidy", file, module, version.Next)
}

// moduleFiles lists the go.mod files outside tests and testdata.
func moduleFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "../tests" || d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Dir(a), filepath.Dir(b)) })
	return files
}
