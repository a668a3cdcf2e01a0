// Package tests holds what is true of the whole module: which package may import which, where unsafe and C may
// stand, what inlines, what allocates.
//
//ci:waits
package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gopgas/gopgas"

// dependencies is the picture of the design as a table: for each package, every package of this module
// that it may import. DO NOT CHANGE IT TO FIX A BUILD: a new edge is a decision about the design.
//
// Reading down: ucx stands alone; boot knows nothing but the segment; transports know boot; pgas knows
// transports; protocols and programs know pgas. Imports go down only. A command's own sub-packages may
// import what it may, and each other.
var dependencies = map[string]string{
	"internal/plural":     "",
	"internal/wholefile":  "",
	"internal/protocols":  "", // which a comparison opens a region with
	"internal/lockrecord": "pgas/boot/record pgas/topo",
	"internal/hook":       "internal/lockrecord pgas/boot",

	"ucx/release":            "",
	"ucx":                    "ucx/release",
	"ucx/engine":             "ucx/release",
	"ucx/engine/outsidetest": "",

	"pgas/boot":                        "pgas/boot/record pgas/version",
	"pgas/boot/record":                 "",
	"pgas/boot/join":                   "pgas/boot pgas/boot/record pgas/version",
	"pgas/boot/pmix":                   "",
	"pgas/boot/launch":                 "pgas/boot pgas/boot/join pgas/boot/launch/internal/agent pgas/boot/launch/internal/frame pgas/boot/launch/internal/output pgas/boot/launch/internal/spawn pgas/boot/record",
	"pgas/boot/launch/internal/agent":  "internal/cuts/vault pgas/boot pgas/boot/join pgas/boot/launch/internal/frame pgas/boot/launch/internal/output pgas/boot/launch/internal/spawn pgas/boot/record pgas/topo",
	"pgas/boot/launch/internal/frame":  "pgas/boot pgas/boot/record pgas/version",
	"pgas/boot/launch/internal/output": "pgas/boot",
	"pgas/boot/launch/internal/spawn":  "pgas/boot pgas/boot/launch/internal/frame",
	"pgas/transport":                   "",
	"pgas/transport/shm":               "pgas/boot pgas/transport",
	"pgas/transport/ucp":               "pgas/boot pgas/boot/join pgas/transport ucx/engine",
	"pgas/transport/transporttest":     "pgas/pgastest/hang pgas/transport",
	"internal/callsite":                "",
	"pgas/internal/symheap":            "pgas/boot",
	"pgas/internal/locklocal":          "",
	"pgas/internal/bounce":             "pgas/transport",
	"pgas/internal/profiles":           "pgas/boot",
	"pgas/internal/checked":            "internal/callsite pgas/transport",
	"pgas/internal/racecheck":          "internal/callsite internal/plural pgas/transport",
	"pgas/internal/racecheck/carriage": "pgas/boot pgas/internal/node pgas/internal/racecheck pgas/transport",
	"pgas/internal/strands":            "pgas/transport pgas/transport/shm",
	"pgas/internal/node":               "pgas/boot pgas/boot/record pgas/internal/racecheck internal/callsite pgas/transport pgas/transport/shm",
	"pgas/internal/vector":             "",
	"pgas/internal/coll":               "pgas/boot internal/callsite pgas/internal/node pgas/internal/racecheck pgas/internal/vector pgas/transport",
	"pgas/internal/private":            "pgas/boot pgas/internal/coll pgas/internal/node pgas/internal/racecheck pgas/topo pgas/transport",
	"pgas":                             "internal/callsite internal/hook internal/lockrecord pgas/boot pgas/boot/join pgas/boot/pmix pgas/boot/record pgas/internal/bounce pgas/internal/checked pgas/internal/coll pgas/internal/locklocal pgas/internal/node pgas/internal/private pgas/internal/profiles pgas/internal/racecheck pgas/internal/racecheck/carriage pgas/internal/strands pgas/internal/symheap pgas/stats pgas/topo pgas/transport pgas/transport/shm pgas/transport/ucp pgas/version",
	"pgas/stats":                       "pgas/boot/record",
	"pgas/metrics":                     "pgas/stats",
	"pgas/metrics/collector":           "pgas/metrics",
	"pgas/topo":                        "",
	"pgas/version":                     "",
	"internal/cuts":                    "internal/cuts/image internal/wholefile",
	"internal/cuts/image":              "",
	"internal/cuts/storetest":          "internal/cuts",
	"internal/cuts/vault":              "internal/cuts/image internal/plural",
	"ckpt/internal/memory":             "internal/cuts/image internal/cuts/vault internal/plural pgas pgas/boot",
	"ckpt":                             "ckpt/internal/memory internal/cuts internal/cuts/image internal/hook internal/plural pgas",
	"arena":                            "ckpt internal/hook pgas",
	"atomics":                          "pgas",
	"locks":                            "internal/hook internal/lockrecord pgas pgas/topo",
	"containers":                       "ckpt internal/callsite internal/carry internal/cuts internal/cuts/image internal/hook internal/jointfile pgas",
	"internal/carry":                   "internal/callsite internal/hook pgas",
	"coherent":                         "ckpt containers dsm internal/hook pgas",
	"notify":                           "internal/hook pgas",
	"internal/jointfile":               "internal/hook internal/wholefile pgas pgas/boot",
	"input":                            "internal/hook internal/jointfile pgas",
	"progress":                         "internal/hook pgas pgas/boot",
	"dsm":                              "dsm/internal/baseline dsm/internal/protocol dsm/pager internal/hook internal/protocols pgas pgas/boot",
	"dsm/internal/protocol":            "pgas internal/hook",
	"dsm/internal/baseline":            "dsm/internal/protocol internal/protocols pgas",
	"samples/npb/benchmark":            "dsm internal/protocols pgas",
	"dsm/pager":                        "",
	"dsm/pager/internal/foreign":       "",
	"dsm/pager/internal/remote":        "",
	"locks/kinds":                      "locks pgas",
	"locks/lockstest":                  "locks pgas pgas/pgastest pgas/sim",
	"pgas/trace":                       "pgas/boot/record",
	"pgas/sim":                         "pgas pgas/boot pgas/boot/record pgas/internal/coll pgas/internal/private pgas/internal/racecheck pgas/sim/internal/engine pgas/sim/internal/explorer pgas/sim/internal/network pgas/topo pgas/trace pgas/transport",
	"pgas/sim/internal/engine":         "pgas pgas/sim/internal/prefetch pgas/transport",
	"pgas/sim/internal/network":        "pgas pgas/boot pgas/sim/internal/engine pgas/sim/internal/prefetch pgas/transport pgas/transport/shm",
	"pgas/sim/internal/explorer":       "pgas/boot pgas/sim/internal/engine pgas/sim/internal/network pgas/transport/shm",
	"pgas/sim/internal/prefetch":       "",
	"pgas/pgastest":                    "pgas pgas/boot pgas/boot/launch pgas/internal/private pgas/internal/racecheck pgas/pgastest/hang pgas/pgastest/netns pgas/sim pgas/transport pgas/transport/shm ucx",
	"pgas/pgastest/netns":              "",
	"pgas/pgastest/hang":               "",
	"pgas/pgastest/capture":            "",
	"pgas/pgastest/spin":               "",
	"pgas/pgastest/mutant":             "pgas/pgastest/hang",

	// The generator knows of the runtime only what generated code calls, by name.
	"cmd/internal/flags":  "",
	"cmd/internal/manual": "",
	"cmd/pgasgen":         "cmd/internal/manual pgas/version templates",
	"cmd/pgasvet":         "cmd/internal/manual",
	"cmd/pgasrun":         "cmd/internal/flags cmd/internal/manual internal/cuts pgas/boot pgas/boot/join pgas/boot/launch pgas/boot/record pgas/metrics pgas/pgastest/netns pgas/stats pgas/topo pgas/trace pgas/version",
	// pgasrun links no UCX, so what needs it of `pgasrun doctor` is a program of its own.
	"cmd/pgasdoctor": "cmd/pgasrun/doctor pgas pgas/boot ucx",
	"cmd/pgasbench":  "cmd/internal/flags cmd/internal/manual dsm internal/protocols locks locks/kinds notify pgas pgas/pgastest/netns pgas/sim pgas/topo pgas/version",
	"templates":      "",
}

// anyProgram is what samples, templates and the like may import: what a user may.
const anyProgram = "pgas arena ckpt containers coherent pgas/metrics pgas/pgastest pgas/sim pgas/stats pgas/topo atomics dsm input locks locks/kinds notify progress"

type pkg struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
	CgoFiles   []string
	Dir        string
}

// list returns packages as they are built with cgo, which has all imports.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,GoFiles,CgoFiles,Dir"}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestDependencies(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, module+"/...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		seen[name] = true
		allowed := append(strings.Fields(allowedFor(name)), "internal/plural") // which knows nothing
		for _, imp := range p.Imports {
			dep, ours := strings.CutPrefix(imp, module+"/")
			if ours && !slices.Contains(allowed, dep) && !sameCommand(name, dep) {
				t.Errorf("%s imports %s, which the design does not allow: see dependencies in deps_test.go", name, dep)
			}
		}
	}
	for name := range dependencies {
		if !seen[name] {
			t.Errorf("the table names %s, which does not exist", name)
		}
	}
}

// sameCommand reports whether both packages belong to one command.
func sameCommand(a, b string) bool {
	return strings.HasPrefix(a, "cmd/") && command(a) == command(b)
}

func command(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func allowedFor(name string) string {
	if allowed, ok := dependencies[name]; ok {
		return allowed
	}
	top, _, _ := strings.Cut(name, "/")
	if top == "cmd" {
		return dependencies[command(name)]
	}
	switch top {
	case "samples":
		return anyProgram + " samples/kernel samples/messages samples/source samples/versions samples/npb/random samples/npb/benchmark samples/npb/parallel samples/npb/npbtest"
	case "templates":
		return anyProgram + " " + path.Dir(name)
	case "tests":
		return anyProgram + " pgas/boot pgas/boot/launch pgas/pgastest/hang pgas/pgastest/netns pgas/version"
	}
	return ""
}

// TestAllowedEdgesAreUsed keeps the table from allowing imports that no package has.
func TestAllowedEdgesAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range list(t, module+"/...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(name, "cmd/") {
			name = command(name)
		}
		for _, imp := range p.Imports {
			used[name+" "+strings.TrimPrefix(imp, module+"/")] = true
		}
	}
	for name, deps := range dependencies {
		for _, dep := range strings.Fields(deps) {
			if !used[name+" "+dep] {
				t.Errorf("the table allows %s to import %s, but it does not: take the edge away", name, dep)
			}
		}
	}
}

// TestUnsafeIsVisible: a reviewer lists the dangerous files with ls.
func TestUnsafeIsVisible(t *testing.T) {
	for _, p := range list(t, module+"/...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, file := range append(p.GoFiles, p.CgoFiles...) {
			imports := importsOf(t, p.Dir+"/"+file)
			underUCX := name == "ucx" || strings.HasPrefix(name, "ucx/")
			underPager := name == "dsm/pager" || strings.HasPrefix(name, "dsm/pager/")
			generated := strings.HasSuffix(file, "_pgas.go")
			if slices.Contains(imports, "unsafe") && !underUCX && !generated && !strings.HasSuffix(file, "_unsafe.go") {
				t.Errorf("%s/%s imports unsafe; its name must end in _unsafe.go", name, file)
			}
			if slices.Contains(imports, "C") && !underUCX && !underPager && name != "pgas/boot/pmix" {
				t.Errorf(`%s/%s imports "C"; only ucx/, dsm/pager and pgas/boot/pmix may`, name, file)
			}
		}
	}
}
