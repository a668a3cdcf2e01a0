package tests

// docs/packages/openshmem.md maps every routine, constant and variable of OpenSHMEM 1.6 to Go and to
// the test that covers it. These tests look each name up: those of the specification in
// testdata/openshmem, the Go names in the packages' types, the tests in their source. So a row cannot
// be missing, and cannot outlive what it names.
//
// A line of a list is a row: its first name is the row's, the others are forms of it, which the row may
// name too. In a row `pgas.Team.Sync` is a Go name, `pgas.TestSync/two hosts` a test and a string that it
// has, and "not in Go:" begins the reason of a row that has neither. What a row names in Go, its tests
// must use, themselves or in functions of theirs.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const mappingPage = "../docs/packages/openshmem.md"

// A mapping is one kind of table of the page.
type mapping struct {
	header string // first cell of the header of its tables
	list   string // the names it must have rows for; none for a table that lists itself
	names  bool   // every row has Go names in its second cell
	tests  bool   // every row has tests in its last cell
}

var mappings = []mapping{
	{header: "routine", list: "routines.txt", names: true, tests: true},
	{header: "constant", list: "constants.txt", names: true},
	{header: "variable", list: "variables.txt", tests: true}, // which set it, so its name is in a string of theirs
	{header: "trap", tests: true},
}

// TestMapping: the page is complete and true.
func TestMapping(t *testing.T) {
	page, err := os.ReadFile(mappingPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := tableRows(string(page))
	r := loadNames(t, rows)
	for _, m := range mappings {
		t.Run(m.header, func(t *testing.T) {
			var names [][]string
			if m.list != "" {
				names = readNames(t, filepath.Join("testdata/openshmem", m.list))
			}
			for _, problem := range m.problems(rows[m.header], names, r) {
				t.Error(problem)
			}
		})
	}
}

// TestMappingHasEveryTrap: the traps are those of the project's plan, by name, and a table that lists
// itself could lose one.
func TestMappingHasEveryTrap(t *testing.T) {
	const traps = 13
	page, err := os.ReadFile(mappingPage)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tableRows(string(page))["trap"]); n < traps {
		t.Errorf("%s has %d traps, want at least %d", mappingPage, n, traps)
	}
}

// A row of a table, with the line it stands in.
type row struct {
	line  int
	cells []string
}

func (r row) String() string { return fmt.Sprintf("%s:%d", mappingPage, r.line) }

// tableRows returns the rows of all tables of a page by the first cell of the table's header.
func tableRows(page string) map[string][]row {
	rows := map[string][]row{}
	header := ""
	for i, line := range strings.Split(page, "\n") {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow {
			header = ""
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.TrimSuffix(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch {
		case header == "":
			header = cells[0]
		case strings.Trim(cells[0], "-:") != "":
			rows[header] = append(rows[header], row{i + 1, cells})
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// code returns what a cell has between back-quotes.
func inCode(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

const notInGo = "not in Go: "

// problems returns what is wrong with the rows of a kind of table. names is nil if it lists itself.
func (m mapping) problems(rows []row, names [][]string, r *resolver) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	forms := map[string][]string{}
	for _, line := range names {
		forms[line[0]] = line
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if len(row.cells) != m.cells() {
			complain("%s: a row of %d cells", row, len(row.cells))
			continue
		}
		var found []string
		if names != nil {
			found = checkKey(row, forms, seen)
		}
		reason, none := strings.CutPrefix(row.cells[1], notInGo)
		switch {
		case none && len(strings.Fields(reason)) < 3:
			found = append(found, strconv.Quote(reason)+" is no reason")
		case !none:
			found = append(found, m.checkCells(row, r)...)
		}
		for _, problem := range found {
			complain("%s: %s", row, problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		if !seen[name] {
			complain("%s has no row for %s", mappingPage, name)
		}
	}
	return problems
}

// cells returns how many cells its rows have.
func (m mapping) cells() int {
	if m.list != "" && m.tests {
		return 3
	}
	return 2
}

// checkCells checks the cells of a row after its name.
func (m mapping) checkCells(row row, r *resolver) (problems []string) {
	tests := row.cells[len(row.cells)-1]
	if m.names {
		problems = r.checkNames(row.cells[1])
	}
	if m.tests {
		problems = append(problems, r.checkTests(tests)...)
	}
	switch {
	case m.names && m.tests:
		problems = append(problems, r.unused(row.cells[1], tests)...)
	case m.list != "" && m.tests:
		problems = append(problems, r.unset(inCode(row.cells[0]), tests)...)
	}
	return problems
}

// checkKey checks the first cell of a row: a name of the list and, if it likes, forms of it.
func checkKey(row row, forms map[string][]string, seen map[string]bool) (problems []string) {
	key := inCode(row.cells[0])
	if len(key) == 0 {
		return []string{"the first cell has no name in back-quotes"}
	}
	known := forms[key[0]]
	switch {
	case known == nil:
		return []string{key[0] + " is not in the list"}
	case seen[key[0]]:
		problems = append(problems, "a second row for "+key[0])
	}
	seen[key[0]] = true
	for _, form := range key[1:] {
		if !slices.Contains(known, form) {
			problems = append(problems, fmt.Sprintf("%s is no form of %s", form, key[0]))
		}
	}
	return problems
}

// readNames reads a list: a line of names for each row, # begins a comment.
func readNames(t *testing.T, file string) (names [][]string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		for _, name := range words {
			if seen[name] {
				t.Errorf("%s has %s twice", file, name)
			}
			seen[name] = true
		}
		if len(words) > 0 {
			names = append(names, words)
		}
	}
	return names
}

// A resolver knows the exported names and the tests of the packages that the page speaks of. Names are
// those of the page: pgas.Team.Sync is a method, pgas.TestRing a function, the path is the module's.
type resolver struct {
	types map[string]*types.Package
	tests map[string]words
}

// words are the names that a test and its functions use, and their strings with quotes.
type words map[string]bool

// splitName divides pgas/boot.Variable.Name into the package's path and the rest.
func splitName(name string) (path, rest string, ok bool) {
	m := isName.FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

var (
	isName = regexp.MustCompile(`^([\w/]+)\.(\w+(?:\.\w+)?)$`)
	isTest = regexp.MustCompile(`^([\w/]+\.(?:Test|Example|Fuzz)\w*)(?:/(.+))?$`)
)

// loadNames loads the packages that rows name, with their tests.
func loadNames(t *testing.T, rows map[string][]row) *resolver {
	t.Helper()
	paths := map[string]bool{}
	for _, m := range mappings {
		for _, row := range rows[m.header] {
			for _, cell := range row.cells[1:] {
				for _, name := range inCode(cell) {
					name, _, _ = strings.Cut(name, "/Test") // a test's sub-name may have points
					if path, _, ok := splitName(name); ok {
						paths[path] = true
					}
				}
			}
		}
	}
	var patterns []string
	for path := range paths {
		if _, err := os.Stat(filepath.Join("..", path)); err == nil { // else an error names its row
			patterns = append(patterns, module+"/"+path)
		}
	}
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedForTest
	loaded, err := packages.Load(&packages.Config{Mode: mode, Tests: true}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	r := &resolver{types: map[string]*types.Package{}, tests: map[string]words{}}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		if p.ForTest == "" {
			r.types[inModule(p.PkgPath)] = p.Types
		}
		r.addTests(p)
	}
	return r
}

func inModule(path string) string { return strings.TrimPrefix(path, module+"/") }

// addTests finds the tests and examples of a package.
func (r *resolver) addTests(p *packages.Package) {
	declared := map[string]words{}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			w := wordsOf(d, p.TypesInfo)
			for _, name := range declares(d) {
				if obj := p.TypesInfo.Defs[name]; obj != nil {
					declared[qualified(obj)] = w
				}
			}
		}
	}
	for name := range declared {
		// go test runs the tests of package x_test as tests of x.
		if test := strings.Replace(name, "_test.", ".", 1); isTest.MatchString(test) {
			r.tests[test] = words{}
			r.tests[test].add(name, declared)
		}
	}
}

// add adds the words of name, and of what they name in turn.
func (w words) add(name string, declared map[string]words) {
	for word := range declared[name] {
		if !w[word] {
			w[word] = true
			w.add(word, declared)
		}
	}
}

// declares returns the names that a declaration of a file is for.
func declares(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			}
		}
	}
	return names
}

func wordsOf(d ast.Decl, info *types.Info) words {
	w := words{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := info.Uses[n]; obj != nil && obj.Pkg() != nil {
				w[qualified(obj)] = true
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				w[strconv.Quote(s)] = true
			}
		}
		return true
	})
	return w
}

// qualified returns the name that the page gives to an object.
func qualified(obj types.Object) string {
	path := inModule(obj.Pkg().Path()) + "."
	f, ok := obj.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return path + obj.Name()
	}
	recv := f.Origin().Signature().Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if named, ok := recv.(*types.Named); ok {
		path += named.Obj().Name() + "."
	}
	return path + obj.Name()
}

// checkNames checks the Go names of a cell.
func (r *resolver) checkNames(cell string) (problems []string) {
	names := inCode(cell)
	if len(names) == 0 {
		return []string{"no Go name, and no reason that begins with " + strconv.Quote(notInGo)}
	}
	for _, name := range names {
		if err := r.checkName(name); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func (r *resolver) checkName(name string) error {
	_, err := r.lookup(name)
	return err
}

// lookup finds what a Go name of the page stands for.
func (r *resolver) lookup(name string) (types.Object, error) {
	path, rest, ok := splitName(name)
	if !ok {
		return nil, fmt.Errorf("%s does not begin with a package", name)
	}
	pkg := r.types[path]
	if pkg == nil {
		return nil, fmt.Errorf("there is no package %s for %s", path, name)
	}
	first, member, isMember := strings.Cut(rest, ".")
	obj := pkg.Scope().Lookup(first)
	if obj == nil || !obj.Exported() {
		return nil, fmt.Errorf("package %s has no %s", path, first)
	}
	if !isMember {
		return obj, nil
	}
	m, _, _ := types.LookupFieldOrMethod(obj.Type(), true, pkg, member)
	if m == nil || !m.Exported() {
		return nil, fmt.Errorf("%s.%s has no %s", path, first, member)
	}
	return m, nil
}

// unused returns a complaint for each Go name that no test of a row uses.
func (r *resolver) unused(names, tests string) (problems []string) {
	used := r.wordsIn(tests)
	for _, name := range inCode(names) {
		if obj, err := r.lookup(name); err == nil && len(used) > 0 && !used[qualified(obj)] {
			problems = append(problems, "no test of the row uses "+name)
		}
	}
	return problems
}

// unset returns a complaint for each variable that no string of the tests of a row has.
func (r *resolver) unset(variables []string, tests string) (problems []string) {
	used := slices.Collect(maps.Keys(r.wordsIn(tests)))
	for _, name := range variables {
		if !slices.ContainsFunc(used, func(w string) bool { return strings.HasPrefix(w, `"`) && strings.Contains(w, name+"=") }) {
			problems = append(problems, "no test of the row sets "+name)
		}
	}
	return problems
}

// wordsIn returns the words of the tests of a cell.
func (r *resolver) wordsIn(tests string) words {
	all := words{}
	for _, test := range inCode(tests) {
		if m := isTest.FindStringSubmatch(test); m != nil {
			maps.Copy(all, r.tests[m[1]])
		}
	}
	return all
}

// checkTests checks the tests of a cell.
func (r *resolver) checkTests(cell string) (problems []string) {
	names := inCode(cell)
	if len(names) == 0 {
		return []string{"no test"}
	}
	for _, name := range names {
		if err := r.checkTest(name); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func (r *resolver) checkTest(name string) error {
	m := isTest.FindStringSubmatch(name)
	if m == nil {
		return fmt.Errorf("%s is not the name of a package and a test", name)
	}
	test, sub := m[1], m[2]
	has, ok := r.tests[test]
	if !ok {
		return fmt.Errorf("there is no test %s", test)
	}
	if sub != "" && !has[strconv.Quote(sub)] {
		return fmt.Errorf("%s has no %q", test, sub)
	}
	return nil
}

// TestMappingFindsFaults: each way in which a page can be wrong is found.
func TestMappingFindsFaults(t *testing.T) {
	const good = "| routine | in Go | test |\n|---|---|---|\n" +
		"| `shmem_sync`, `shmem_team_sync` | `pgas.World.Sync` | `pgas.TestRing` |\n"
	names := [][]string{{"shmem_sync", "shmem_team_sync"}, {"shmem_quiet"}}
	r := &resolver{types: map[string]*types.Package{}, tests: map[string]words{
		"pgas.TestRing":             {`"two hosts"`: true, "pgas.World": true, "pgas.World.Sync": true},
		"pgas.TestIdle":             {`"idle"`: true},
		"pgas/boot/deep/down.TestX": {"pgas.World": true},
	}}
	r.types["pgas"] = fakePackage()
	for _, c := range []struct{ name, page, want string }{
		{"nothing", good + "| `shmem_quiet` | `pgas.World` | `pgas.TestRing/two hosts` |", ""},
		{"test in a deep package", good + "| `shmem_quiet` | `pgas.World` | `pgas/boot/deep/down.TestX` |", ""},
		{"a reason", good + "| `shmem_quiet` | not in Go: for a reason | |", ""},
		{"missing row", good, "has no row for shmem_quiet"},
		{"unknown routine", good + "| `shmem_shout` | `pgas.World` | `pgas.TestRing` |", "shmem_shout is not in the list"},
		{"second row", good + "| `shmem_sync` | `pgas.World` | `pgas.TestRing` |", "a second row for shmem_sync"},
		{"foreign form", good + "| `shmem_quiet`, `shmem_sync` | `pgas.World` | `pgas.TestRing` |", "shmem_sync is no form of shmem_quiet"},
		{"no name", good + "| shmem_quiet | `pgas.World` | `pgas.TestRing` |", "no name in back-quotes"},
		{"cells", good + "| `shmem_quiet` | `pgas.World` |", "a row of 2 cells"},
		{"no Go name", good + "| `shmem_quiet` | soon | `pgas.TestRing` |", "no Go name"},
		{"no reason", good + "| `shmem_quiet` | not in Go: really | |", "is no reason"},
		{"no package", good + "| `shmem_quiet` | `Quiet` | `pgas.TestRing` |", "Quiet does not begin with a package"},
		{"unknown package", good + "| `shmem_quiet` | `quiet.World` | `pgas.TestRing` |", "there is no package quiet"},
		{"unknown name", good + "| `shmem_quiet` | `pgas.Globe` | `pgas.TestRing` |", "package pgas has no Globe"},
		{"unknown method", good + "| `shmem_quiet` | `pgas.World.Quite` | `pgas.TestRing` |", "pgas.World has no Quite"},
		{"unexported method", good + "| `shmem_quiet` | `pgas.World.quiet` | `pgas.TestRing` |", "pgas.World has no quiet"},
		{"no test", good + "| `shmem_quiet` | `pgas.World` | soon |", "no test"},
		{"unknown test", good + "| `shmem_quiet` | `pgas.World` | `pgas.TestRong` |", "there is no test pgas.TestRong"},
		{"unknown subtest", good + "| `shmem_quiet` | `pgas.World` | `pgas.TestRing/ten hosts` |", `pgas.TestRing has no "ten hosts"`},
		{"test of something else", good + "| `shmem_quiet` | `pgas.World.Sync` | `pgas.TestIdle` |", "no test of the row uses pgas.World.Sync"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := strings.Join(mappings[0].problems(tableRows(c.page)["routine"], names, r), "\n")
			if !strings.Contains(found, c.want) || c.want == "" && found != "" {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if c.want != "" && c.name != "missing row" && strings.Count(found, mappingPage+":") != 1 {
				t.Errorf("one row is wrong, found:\n%s", found)
			}
		})
	}
}

// fakePackage has a type World with the methods Sync and quiet.
func fakePackage() *types.Package {
	pkg := types.NewPackage(module+"/pgas", "pgas")
	world := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "World", nil), types.NewStruct(nil, nil), nil)
	for _, name := range []string{"Sync", "quiet"} {
		recv := types.NewVar(token.NoPos, pkg, "", types.NewPointer(world))
		world.AddMethod(types.NewFunc(token.NoPos, pkg, name, types.NewSignatureType(recv, nil, nil, nil, nil, false)))
	}
	pkg.Scope().Insert(world.Obj())
	return pkg
}
