package tests

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cPackages are the packages with C, and the header of the top layer of each, which Go includes. Each header includes
// that of the layer below. It lists the files of its layer in order, and below the name of a file the functions that
// other files may call.
var cPackages = map[string]string{"ucx": "shim.h", "ucx/engine": "engine.h"}

// TestCallsInCGoDown checks that a C file calls only files of layers below, and files listed before it in its own
// layer. So no two files call each other, directly or by way of others.
func TestCallsInCGoDown(t *testing.T) {
	for dir, top := range cPackages {
		g := readC(readSources(t, "../"+dir), top)
		for _, p := range g.problems {
			t.Errorf("%s: %s", dir, p)
		}
		if len(g.order) < 2 || len(g.edges) < 2 {
			t.Errorf("%s: found %d files and %d calls between files: the test no longer understands its headers", dir, len(g.order), len(g.edges))
		}
		t.Logf("%s: %d files in %d layers, %d edges", dir, len(g.order), len(g.layers), len(g.edges))
	}
}

// TestCallsInCGoDownFails plants one error of each kind in the engine's sources and checks that it is found.
func TestCallsInCGoDownFails(t *testing.T) {
	sources := readSources(t, "../ucx/engine")
	for _, planted := range []struct{ file, old, new, want string }{
		{"lane.c", "\n{\n", "\n{\n    progress_until(0, 0, 0, 0, 0, 0);\n", "lane.c calls progress_until of progress.c, which stands above it"},
		{"inbound.c", "\n{\n", "\n{\n    serve_free(0);\n", "inbound.c calls serve_free of target.c, which stands above it"},
		{"slot.c", `#include "lane.h"`, `#include "flow.h"`, "slot.c includes flow.h: it belongs to the layer of lane.h"},
		{"slot.c", `#include "lane.h"`, "#include \"lane.h\"\n\nint planted(void)\n{\n    return 0;\n}", "planted of slot.c is not listed under its file in lane.h"},
		{"lane.h", "// slot.c\n", "", "slot.c is in no header"},
	} {
		changed := maps.Clone(sources)
		changed[planted.file] = strings.Replace(sources[planted.file], planted.old, planted.new, 1)
		if changed[planted.file] == sources[planted.file] {
			t.Errorf("%s: %q is not in it", planted.file, planted.old)
		}
		if got := readC(changed, "engine.h").problems; !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, planted.want) }) {
			t.Errorf("%s: want a problem that says %q, got %q", planted.file, planted.want, got)
		}
	}
}

// readSources returns the C files and headers of a directory without comments, but for lines that name a file.
func readSources(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.[ch]"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no C in %s (%v)", dir, err)
	}
	comments := regexp.MustCompile(`//.*`)
	strs := regexp.MustCompile(`"(\\.|[^"\\\n])*"`)
	sources := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if fileLine.MatchString(line) || includeLine.MatchString(line) {
				continue
			}
			lines[i] = comments.ReplaceAllString(strs.ReplaceAllString(line, `""`), "")
		}
		sources[filepath.Base(name)] = strings.Join(lines, "\n")
	}
	return sources
}

var (
	fileLine    = regexp.MustCompile(`(?m)^// ([a-z_]+\.c)$`)
	includeLine = regexp.MustCompile(`(?m)^#include "([a-z_]+\.h)"$`)
	prototype   = regexp.MustCompile(`(?m)^[A-Za-z_][^;{}()=#\n]*?\b(\w+)\([^;{}]*\);`)
	definition  = regexp.MustCompile(`(?m)^([A-Za-z_][^;{}()=#\n]*?)\b(\w+)\([^;{}]*\)\s*\{`)
	identifier  = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// cGraph is what a package's C files call of each other.
type cGraph struct {
	layers   []string            // headers, from the ground up
	order    []string            // files, from the ground up
	header   map[string]string   // of a file
	listed   map[string]string   // file of a function that a header lists
	home     map[string]string   // file of a function that other files can call
	private  map[string][]string // functions of a file that they cannot
	inline   map[string][]string // identifiers in the body of a header's function
	edges    map[[2]string]bool
	problems []string
}

func readC(sources map[string]string, top string) *cGraph {
	g := &cGraph{
		header: map[string]string{}, listed: map[string]string{}, home: map[string]string{},
		private: map[string][]string{}, inline: map[string][]string{}, edges: map[[2]string]bool{},
	}
	g.readHeaders(sources, top)
	for name, text := range sources {
		if strings.HasSuffix(name, ".c") {
			g.readDefinitions(name, text)
		}
	}
	for name, text := range sources {
		if strings.HasSuffix(name, ".c") {
			g.readCalls(name, text)
		}
	}
	return g
}

func (g *cGraph) problem(format string, args ...any) {
	g.problems = append(g.problems, fmt.Sprintf(format, args...))
}

// readHeaders follows the chain of headers down, and reads which files and functions each lists.
func (g *cGraph) readHeaders(sources map[string]string, top string) {
	for name := top; name != ""; {
		text := sources[name]
		g.layers = slices.Insert(g.layers, 0, name)
		below := includeLine.FindAllStringSubmatch(text, -1)
		if len(below) > 1 {
			g.problem("%s includes %d headers: a layer stands on one other", name, len(below))
		}
		var files []string
		at := fileLine.FindAllStringSubmatchIndex(text, -1)
		for i, m := range at {
			file, end := text[m[2]:m[3]], len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			files = append(files, file)
			g.header[file] = name
			for _, p := range prototype.FindAllStringSubmatch(text[m[1]:end], -1) {
				g.listed[p[1]] = file
			}
		}
		g.order = slices.Insert(g.order, 0, files...)
		for _, d := range definition.FindAllStringSubmatchIndex(text, -1) {
			body, _, _ := strings.Cut(text[d[1]:], "\n}")
			g.inline[text[d[4]:d[5]]] = identifier.FindAllString(body, -1)
		}
		if name = ""; len(below) > 0 {
			name = below[0][1]
		}
	}
}

// readDefinitions reads which functions a file has.
func (g *cGraph) readDefinitions(name, text string) {
	if !slices.Contains(g.order, name) {
		g.problem("%s is in no header", name)
	}
	for _, d := range definition.FindAllStringSubmatch(text, -1) {
		switch function := d[2]; {
		case strings.HasPrefix(d[1], "static"):
			g.private[name] = append(g.private[name], function)
		default:
			g.home[function] = name
			if g.listed[function] != name {
				g.problem("%s of %s is not listed under its file in %s", function, name, g.header[name])
			}
		}
	}
}

// readCalls reads which functions of other files a file names, itself or by a function of a header.
func (g *cGraph) readCalls(name, text string) {
	for _, include := range includeLine.FindAllStringSubmatch(text, -1) {
		if include[1] != g.header[name] {
			g.problem("%s includes %s: it belongs to the layer of %s", name, include[1], g.header[name])
		}
	}
	seen := map[string]bool{}
	todo := identifier.FindAllString(text, -1)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] || slices.Contains(g.private[name], id) {
			continue
		}
		seen[id] = true
		todo = append(todo, g.inline[id]...)
		to, ok := g.home[id]
		if !ok || to == name {
			continue
		}
		g.edges[[2]string{name, to}] = true
		if slices.Index(g.order, to) > slices.Index(g.order, name) {
			g.problem("%s calls %s of %s, which stands above it", name, id, to)
		}
	}
}
