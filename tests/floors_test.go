package tests

// Floors: the folders at the top of the module, and those below internal, stand one above another, and imports go down.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// floors gives each top-level folder, and each below internal, its floor; 0 is the lowest. A folder's packages may
// import each other and packages of lower floors. docs/index.md lists the packages in this order.
var floors = map[string]int{
	"internal/callsite":  0,
	"internal/plural":    0,
	"internal/protocols": 0,
	"internal/wholefile": 0,
	"templates":          0, // files that pgasgen embeds
	"ucx":                0,

	"internal/cuts": 1,

	"pgas": 2,

	"internal/carry":     3,
	"internal/jointfile": 3,
	"atomics":            3,
	"ckpt":               3,
	"dsm":                3,
	"locks":              3,
	"notify":             3,
	"progress":           3,

	"arena":      4,
	"containers": 4,
	"input":      4,

	"coherent": 5,

	"cmd":               6,
	"samples":           6,
	"templates/starter": 6, // the program among them

	"tests": 7, // tests of the whole, which may import any
}

// aboveInPgas are the folders below pgas that may import package pgas: the benches of tests, which need its internal
// packages. Nothing else inside pgas stands above it, since the children of a folder are its parts and not its users.
var aboveInPgas = []string{"pgas/sim", "pgas/pgastest"}

// partsOfPgas are parts of the folder pgas that lie outside of it: packages above import them, and programs must not.
var partsOfPgas = []string{"internal/hook", "internal/lockrecord"}

func TestFloors(t *testing.T) {
	pkgs := list(t, module+"/...")
	for _, problem := range wrongFloors(pkgs) {
		t.Error(problem)
	}
	folders := map[string]bool{}
	for _, p := range pkgs {
		folder, _ := floorOf(strings.TrimPrefix(p.ImportPath, module+"/"))
		folders[folder] = true
	}
	for folder := range floors {
		if !folders[folder] {
			t.Errorf("floors names %s, which has no package: take it out", folder)
		}
	}
}

// TestFloorsFindsFaults: an import that does not go down is found, and a folder without a floor.
func TestFloorsFindsFaults(t *testing.T) {
	const remedy = ": let both import a package of a lower floor, or give the folder another floor in floors_test.go"
	for _, test := range []struct{ from, to, want string }{
		{"containers", "pgas", ""},
		{"containers", "fmt", ""},
		{"pgas/boot/launch", "pgas/boot", ""},
		{"cmd/pgasrun", "cmd/internal/manual", ""},
		{"pgas/sim", "pgas", ""},
		{"pgas/pgastest", "pgas", ""},
		{"templates/starter", "pgas", ""},
		{"tests/ci", "cmd/pgasrun", ""},
		{"pgas", "containers", "pgas imports containers, of floor 4, which is not below floor 2" + remedy},
		{"internal/hook", "pgas/boot", ""},
		{"pgas", "internal/hook", ""},
		{"internal/hook", "dsm", "internal/hook imports dsm, of floor 3, which is not below floor 2" + remedy},
		{"dsm", "locks", "dsm imports locks, of floor 3, which is not below floor 3" + remedy},
		{"internal/callsite", "internal/plural", "internal/callsite imports internal/plural, of floor 0, which is not below floor 0" + remedy},
		{"samples/heat", "cmd/pgasrun", "samples/heat imports cmd/pgasrun, of floor 6, which is not below floor 6" + remedy},
		{"templates", "pgas", "templates imports pgas, of floor 2, which is not below floor 0" + remedy},
		{"pgas/containers", "pgas", "pgas/containers imports pgas from inside of its folder: move it to the top of the module, as only sim and pgastest may stay"},
		{"graph", "pgas", "graph has no floor: give it one in floors_test.go, and its place in docs/index.md"},
		{"internal/new", "fmt", "internal/new has no floor: give it one in floors_test.go, and its place in docs/index.md"},
	} {
		to := test.to
		if _, known := floorOf(to); known {
			to = module + "/" + to
		}
		found := strings.Join(wrongFloors([]pkg{{ImportPath: module + "/" + test.from, Imports: []string{to}}}), "\n")
		if found != test.want {
			t.Errorf("%s -> %s: found %q, want %q", test.from, test.to, found, test.want)
		}
	}
}

// wrongFloors returns a complaint for each package without a floor and for each import that does not go down.
func wrongFloors(pkgs []pkg) (problems []string) {
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		folder, known := floorOf(name)
		if !known {
			problems = append(problems, fmt.Sprintf("%s has no floor: give it one in floors_test.go, and its place in docs/index.md", folder))
			continue
		}
		for _, imported := range p.Imports {
			dep, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if problem := wrongImport(name, folder, dep); problem != "" {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// wrongImport returns what is wrong with package name of a folder importing dep, or "".
func wrongImport(name, folder, dep string) string {
	if dep == "pgas" && strings.HasPrefix(name, "pgas/") && !slices.ContainsFunc(aboveInPgas, func(above string) bool { return within(name, above) }) {
		return fmt.Sprintf("%s imports pgas from inside of its folder: move it to the top of the module, as only sim and pgastest may stay", name)
	}
	below, known := floorOf(dep)
	if !known || below == folder || floors[below] < floors[folder] {
		return "" // a folder without a floor is reported for itself
	}
	return fmt.Sprintf("%s imports %s, of floor %d, which is not below floor %d: let both import a package of a lower floor, or give the folder another floor in floors_test.go",
		name, dep, floors[below], floors[folder])
}

// floorOf returns the folder that has the floor of a package, and whether it has one.
func floorOf(name string) (folder string, known bool) {
	if _, known = floors["templates/starter"]; known && within(name, "templates/starter") {
		return "templates/starter", true
	}
	if slices.Contains(partsOfPgas, name) {
		return "pgas", true
	}
	parts := strings.Split(name, "/")
	n := 1
	if parts[0] == "internal" {
		n = min(2, len(parts))
	}
	folder = strings.Join(parts[:n], "/")
	_, known = floors[folder]
	return folder, known
}

// within reports whether a package is folder or below it.
func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
