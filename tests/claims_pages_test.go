package tests

// What any page of docs, the README or a package's comment names must exist, as far as its form says what it is. In
// back-quotes on pages, and anywhere in comments of packages:
//
//	pgas.Alloc, World.Close    a name of a package of the module, or of one of its types
//	w.Barrier(ctx)             a method of *pgas.World, which pages call w
//	Split(ctx, …), RunLate     a call, or a word in CamelCase: something that is declared in the module (pages only)
//	TestFlows                  a test, a benchmark, a fuzz target or an example
//	PGAS_AMO, -keep-going      a variable, or a flag of a command (flags: pages only)
//	pgas/boot, docs/ui.md      a folder or a file below one that the module has
//
// The index is of the syntax alone. What a type embeds may have any member.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A declared is the names of the module.
type declared struct {
	packages map[string]map[string]bool // by the name of a package: its functions, types, variables, and "Type.Member"
	embeds   map[string]bool            // "pkg.Type" that embed something
	words    map[string]bool            // every name that is declared anywhere
	paths    map[string]bool            // files and folders, from the module's root
	strings  string                     // the Go sources, in which variables and flags are quoted
}

// TestPagesClaim: names of calls, files, tests, variables and flags on all pages and in comments of packages exist.
func TestPagesClaim(t *testing.T) {
	d, comments := declarations(t)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		if page == "../docs/ucx-upstream.md" {
			continue // it is about the names of another binding
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		claims, code := claimsOf(string(content)), strings.Join(codeBlock.FindAllString(string(content), -1), "")
		if page == "../docs/pgasgen.md" {
			code = string(content) // it describes accessors by the names of fields in its sentences
		}
		for _, line := range slices.Sorted(maps.Keys(claims)) {
			for _, name := range claims[line] {
				if problem := d.problem(name); problem != "" && !generated(name, code) {
					t.Errorf("%s:%d: `%s`: %s", page, line, name, problem)
				}
			}
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(comments)) {
		for _, word := range commentWord.FindAllString(comments[folder], -1) {
			if problem := d.problem(strings.TrimRight(word, ".")); problem != "" {
				t.Errorf("the comment of package %s: %s: %s", folder, word, problem)
			}
		}
	}
}

// TestPagesClaimFindsFaults: each form is looked up, and what has none of the forms is left alone.
func TestPagesClaimFindsFaults(t *testing.T) {
	d := &declared{
		packages: map[string]map[string]bool{"pgas": {"Alloc": true, "World": true, "World.Barrier": true, "Team": true}},
		embeds:   map[string]bool{},
		words:    map[string]bool{"Alloc": true, "World": true, "Barrier": true, "TestFlows": true, "RunLate": true},
		paths:    map[string]bool{"docs": true, "docs/ui.md": true, "pgas": true, "pgas/boot": true},
		strings:  `"PGAS_AMO" "keep-going"`,
	}
	for name, wrong := range map[string]bool{
		"pgas.Alloc": false, "pgas.Gone": true, "pgas.Alloc[int](ctx, w, 1)": false, "*pgas.World": false, "&pgas.Gone{}": true,
		"World.Barrier": false, "World.Gone": true, "World.Gone(ctx)": true, "w.Barrier(ctx)": false, "w.Gone()": true,
		"Barrier(ctx)": false, "Gone(ctx, …)": true, "RunLate": false, "RunEarly": true, "Gone": true,
		"pgas.TestFlows": false, "pgas/boot.TestGone": true, "gone.TestFlows": true,
		"TestFlows": false, "TestFlows/one": false, "TestGone": true, "PGAS_AMO": false, "PGAS_AMO=nic": false, "PGAS_GONE": true,
		"-keep-going": false, "-keep-going=false": false, "-gone": true, "-race": false,
		"docs/ui.md": false, "docs/gone.md": true, "pgas/boot": false, "pgas/gone": true, "pgas/boot.World": false, "pgas/boot.Gone": true, "pgas/boot.World.Barrier": false, "/dev/shm": false, "a/b": false,
		"x := w.Barrier": false, "SIGTERM": false, "MPI": false, "fmt.Println": false, "ulimit -n": false, "nil": false,
	} {
		if problem := d.problem(name); (problem != "") != wrong {
			t.Errorf("%s: %q", name, problem)
		}
	}
}

var (
	commentWord = regexp.MustCompile(`\b(?:(?:Test|Benchmark|Fuzz)[A-Z]\w+|PGAS_[A-Z_]+\w|[a-z]\w*\.[A-Z]\w+(?:\.[A-Z]\w+)?)\b`)
	testName    = regexp.MustCompile(`^((?:Test|Benchmark|Fuzz|Example)[A-Z]\w*)(?:/.*)?$`)
	testOf      = regexp.MustCompile(`^([\w/]+)\.((?:Test|Benchmark|Fuzz|Example)[A-Z]\w*)(?:/.*)?$`)
	variable    = regexp.MustCompile(`^(PGAS_[A-Z_]*[A-Z])(?:=.*)?$`)
	flagName    = regexp.MustCompile(`^-([a-z][\w-]*)(?:[ =].*)?$`)
	ofPackage   = regexp.MustCompile(`^[*&]?([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)(?:[({\[].*)?$`)
	member      = regexp.MustCompile(`^([A-Z]\w*)\.([A-Z]\w*)(?:[({\[].*)?$`)
	bareCall    = regexp.MustCompile(`^([A-Z]\w*)(?:\[[^\]]*\])?\(.*\)$`)
	camelCase   = regexp.MustCompile(`^[A-Z][a-z]+\w*$`)
	aPath       = regexp.MustCompile(`^(?:\./)?[\w.-]+(?:/[\w.-]+)+/?$`)
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```")
	accessor  = regexp.MustCompile(`^(?:Alloc|Put|Get|Add|FetchAdd|WaitUntil|Set)?([A-Z]\w*?)(?:Signal|At|s|sRef|sSlice|Slice|Ref|Array)?(?:\(.*)?$`)
)

// generated reports whether a name is that of an accessor which pgasgen writes for a field or a struct in the page's
// code.
func generated(name, code string) bool {
	m := accessor.FindStringSubmatch(name)
	return m != nil && regexp.MustCompile(`\b`+m[1]+`s?\b`).MatchString(code)
}

// problem returns what is wrong with a name, or "" if nothing is or its form says nothing.
func (d *declared) problem(name string) string {
	if m := testOf.FindStringSubmatch(name); m != nil {
		return d.need(d.words[m[2]] && (d.paths[m[1]] || d.packages[m[1]] != nil), "there is no such test")
	}
	if m := testName.FindStringSubmatch(name); m != nil {
		return d.need(d.words[m[1]] || d.words[name], "there is no such test")
	}
	if m := variable.FindStringSubmatch(name); m != nil {
		return d.need(strings.Contains(d.strings, `"`+m[1]+`"`), "there is no such variable")
	}
	if m := flagName.FindStringSubmatch(name); m != nil {
		return d.need(slices.Contains(foreignFlags, m[1]) || strings.Contains(d.strings, `"`+m[1]+`"`), "no command has such a flag")
	}
	if m := ofPackage.FindStringSubmatch(name); m != nil {
		return d.qualified(m[1], m[2])
	}
	if m := member.FindStringSubmatch(name); m != nil {
		return d.need(d.anyHas(m[1], m[2]), "no package has that")
	}
	if m := bareCall.FindStringSubmatch(name); m != nil {
		return d.need(d.words[m[1]] || slices.Contains(foreignWords, m[1]), "nothing of that name is declared")
	}
	if camelCase.MatchString(name) {
		return d.need(d.words[name] || slices.Contains(foreignWords, name), "nothing of that name is declared")
	}
	if aPath.MatchString(name) {
		clean := path.Clean(name)
		top, _, _ := strings.Cut(clean, "/")
		folder, word, _ := strings.Cut(clean, ".")
		_, member, isMember := strings.Cut(word, ".")
		named := d.paths[folder] && (d.words[word] || isMember && d.words[member])
		return d.need(!d.paths[top] || d.paths[clean] || named, "there is no such file, folder or name")
	}
	return ""
}

func (d *declared) need(ok bool, otherwise string) string {
	if ok {
		return ""
	}
	return otherwise
}

// qualified looks up a name of a package of the module; w is a *pgas.World.
func (d *declared) qualified(pkg, name string) string {
	if pkg == "w" {
		pkg, name = "pgas", "World."+name
	}
	names, ours := d.packages[pkg]
	if !ours {
		return ""
	}
	of, _, isMember := strings.Cut(name, ".")
	return d.need(names[name] || isMember && names[of] && d.embeds[pkg+"."+of], "the package has no such name")
}

// anyHas reports whether a type of that name in some package has the member.
func (d *declared) anyHas(of, member string) bool {
	for pkg, names := range d.packages {
		if names[of+"."+member] || d.embeds[pkg+"."+of] {
			return true
		}
	}
	return slices.Contains(foreignWords, of)
}

// foreignFlags are those of other programs that pages name.
var foreignFlags = []string{"benchtime", "benchmem", "buildmode", "race"}

// foreignWords are words in CamelCase that pages name and the module does not declare.
var foreignWords = []string{"Tally", "Containerfile", "Assertion"}

// declarations reads the module, and returns the comments of its packages too.
func declarations(t *testing.T) (*declared, map[string]string) {
	t.Helper()
	d := &declared{packages: map[string]map[string]bool{}, embeds: map[string]bool{}, words: map[string]bool{}, paths: map[string]bool{}}
	comments := map[string]string{}
	var sources strings.Builder
	err := filepath.WalkDir("..", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, "../")
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "bin") {
			return fs.SkipDir
		}
		d.paths[name] = true
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") && strings.Contains(name, "cmd/pgasgen") {
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sources.Write(content)
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // testdata of tools has such files
		}
		if f.Doc != nil {
			comments[path.Dir(name)] += f.Doc.Text()
		}
		d.add(f, strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d.strings = sources.String()
	return d, comments
}

// add adds what a file declares. Names of tests are words, and not of the package.
func (d *declared) add(f *ast.File, test bool) {
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	names := d.packages[pkg]
	if names == nil && !test && pkg != "main" {
		names = map[string]bool{}
		d.packages[pkg] = names
	}
	note := func(of, name string) {
		d.words[name] = true
		if test || names == nil {
			return
		}
		if of != "" {
			name = of + "." + name
		}
		names[name] = true
	}
	for _, decl := range f.Decls {
		switch x := decl.(type) {
		case *ast.FuncDecl:
			of := ""
			if x.Recv != nil {
				of = receiverOf(x.Recv.List[0].Type)
			}
			note(of, x.Name.Name)
		case *ast.GenDecl:
			for _, spec := range x.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						note("", n.Name)
					}
				case *ast.TypeSpec:
					note("", s.Name.Name)
					d.addMembers(pkg, s, note)
				}
			}
		}
	}
}

// addMembers notes the fields and methods that a type's declaration names.
func (d *declared) addMembers(pkg string, s *ast.TypeSpec, note func(of, name string)) {
	var fields *ast.FieldList
	switch x := s.Type.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		if s.Assign.IsValid() {
			d.embeds[pkg+"."+s.Name.Name] = true // an alias has what the other has
		}
		return
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			d.embeds[pkg+"."+s.Name.Name] = true
		}
		for _, n := range field.Names {
			note(s.Name.Name, n.Name)
		}
	}
}

// receiverOf returns the name of a method's type.
func receiverOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiverOf(x.X)
	case *ast.IndexExpr:
		return receiverOf(x.X)
	case *ast.IndexListExpr:
		return receiverOf(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
