package tests

// What any page of docs, the README or a package's comment names must exist, as far as its form says what it is. In
// back-quotes on pages, and anywhere in comments of packages:
//
//	pgas.Alloc, World.Close    a name of a package of the module, or of one of its types
//	w.Barrier(ctx)             a method of *pgas.World, which pages call w
//	Split(ctx, …)              a call of a function or method that takes a context first (pages only)
//	Near(pe), RunLate          a call, or a word in CamelCase: something that is declared in the module (pages only)
//	TestFlows                  a test, a benchmark, a fuzz target or an example
//	PGAS_AMO, -keep-going      a variable, or a flag that a command or a sample defines
//	pgasrun -n 2 ./prog        flags of a command in a line that starts it, in blocks of code too
//	pgas/boot, docs/use/ui.md  a folder or a file below one that the module has (pages only)
//	hang.Limit, four minutes   a constant and how long it is (pages only)
//
// The index is of the syntax alone. What a type embeds may have any member.

import (
	"fmt"
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
	"strconv"
	"strings"
	"testing"
	"time"
)

// A declared is the names of the module.
type declared struct {
	packages map[string]map[string]bool // by the name of a package: its functions, types, variables, and "Type.Member"
	embeds   map[string]bool            // "pkg.Type" that embed something
	words    map[string]bool            // every name that is declared anywhere
	blocking map[string]bool            // functions and methods whose first parameter is a context
	flags    map[string]bool            // flags that some program defines
	lasting  map[string]time.Duration   // constants of durations, as "pkg.Name"
	paths    map[string]bool            // files and folders, from the module's root
	tests    map[string][]string        // tests, benchmarks, fuzz tests and examples, by folder
	strings  string                     // the Go sources but tests, in which variables are quoted
}

// TestPagesClaim: names of calls, files, tests, variables and flags on all pages and in comments of packages exist, and
// commands that test a package find something to run there.
func TestPagesClaim(t *testing.T) {
	d, comments := declarations(t)
	for _, page := range pagesOf(t) {
		if page == "../docs/internals/ucx-upstream.md" {
			continue // it is about the names of another binding
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		claims, code := claimsOf(string(content)), strings.Join(codeBlock.FindAllString(string(content), -1), "")
		if page == "../docs/use/pgasgen.md" {
			code = string(content) // it describes accessors by the names of fields in its sentences
		}
		for _, problem := range d.wrongDurations(string(content)) {
			t.Errorf("%s: %s", page, problem)
		}
		for _, problem := range d.wrongCommands(string(content)) {
			t.Errorf("%s: %s", page, problem)
		}
		for line := range strings.Lines(strings.Join(codeBlock.FindAllString(string(content), -1), "")) {
			if line = strings.TrimPrefix(line, "$ "); startsOurs.MatchString(line) {
				if problem := d.badFlags(line); problem != "" {
					t.Errorf("%s: %s: %s", page, strings.TrimSpace(line), problem)
				}
			}
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
		for _, m := range commentFlag.FindAllStringSubmatch(comments[folder], -1) {
			if problem := d.problem("-" + m[1]); problem != "" {
				t.Errorf("the comment of package %s: -%s: %s", folder, m[1], problem)
			}
		}
	}
}

// TestPagesClaimFindsFaults: each form is looked up, and what has none of the forms is left alone.
func TestPagesClaimFindsFaults(t *testing.T) {
	d := &declared{
		packages: map[string]map[string]bool{"pgas": {"Alloc": true, "World": true, "World.Barrier": true, "Team": true}},
		embeds:   map[string]bool{},
		words:    map[string]bool{"Alloc": true, "World": true, "Barrier": true, "TestFlows": true, "RunLate": true, "Host": true},
		blocking: map[string]bool{"Alloc": true, "Barrier": true},
		flags:    map[string]bool{"keep-going": true},
		lasting:  map[string]time.Duration{"hang.Limit": 4 * time.Minute},
		paths:    map[string]bool{"docs": true, "docs/use/ui.md": true, "pgas": true, "pgas/boot": true},
		tests:    map[string][]string{"pgas/boot": {"TestFlows", "BenchmarkRing", "ExampleState"}},
		strings:  `"PGAS_AMO" "gone"`,
	}
	for name, wrong := range map[string]bool{
		"pgas.Alloc": false, "pgas.Gone": true, "pgas.Alloc[int](ctx, w, 1)": false, "*pgas.World": false, "&pgas.Gone{}": true,
		"World.Barrier": false, "World.Gone": true, "World.Gone(ctx)": true, "w.Barrier(ctx)": false, "w.Gone()": true,
		"Barrier(ctx)": false, "Gone(ctx, …)": true, "Host(ctx)": true, "Host(pe)": false, "w.Host(ctx)": true, "RunLate": false, "RunEarly": true, "Gone": true,
		"pgas.TestFlows": false, "pgas/boot.TestGone": true, "gone.TestFlows": true,
		"TestFlows": false, "TestFlows/one": false, "TestGone": true, "PGAS_AMO": false, "PGAS_AMO=nic": false, "PGAS_GONE": true,
		"pgasrun -keep-going ./prog -gone": false, "pgasrun -gone ./prog": true, "pgasbench locks -gone": true,
		"-keep-going": false, "-keep-going=false": false, "-gone": true, "-race": false,
		"docs/use/ui.md": false, "docs/gone.md": true, "pgas/boot": false, "pgas/gone": true, "pgas/boot.World": false, "pgas/boot.Gone": true, "pgas/boot.World.Barrier": false, "/dev/shm": false, "a/b": false,
		"x := w.Barrier": false, "SIGTERM": false, "MPI": false, "fmt.Println": false, "ulimit -n": false, "nil": false,
	} {
		if problem := d.problem(name); (problem != "") != wrong {
			t.Errorf("%s: %q", name, problem)
		}
	}
	for sentence, wrong := range map[string]bool{
		"ended after `hang.Limit`, four minutes.": false, "ended after `hang.Limit`, 4 minutes": false, "`hang.Limit`,\ntwo minutes": true,
		"`hang.Limit`, 240 seconds": false, "`hang.Limit` is long": false, "`hang.Gone`, two minutes": true,
	} {
		if found := d.wrongDurations(sentence); (len(found) > 0) != wrong {
			t.Errorf("%s: %q", sentence, found)
		}
	}
	for command, wrong := range map[string]bool{
		"`go test ./pgas/boot -run '^$' -bench Ring -benchtime 5x`": false, "`go test\n  ./pgas/boot -bench=Ring`": false,
		"```sh\ngo test -race -run 'TestFlows$/one' ./pgas/boot > out\n```": false, "`go test ./pgas/boot -run Example`": false,
		"`go test ./pgas/boot -bench Flows`": true, "`go test ./pgas/boot -run Ring`": true, "```sh\ngo test ./pgas -bench Ring\n```": true,
		"`go test ./pgas/boot -run NONE -bench Gone`": true, "`go test -run TestGone .`": false, "`go test ./pgas/... -run TestGone`": false,
		"`go test ./pgas/boot -fuzz FuzzGone`": true, "`go test ./gone`": true, "go test ./pgas/boot -bench Gone": false,
	} {
		if found := d.wrongCommands(command); (len(found) > 0) != wrong {
			t.Errorf("%s: %q", command, found)
		}
	}
}

// TestPagesClaimsOfOld: the checker finds the claims that stood on pages for months after they had become untrue.
func TestPagesClaimsOfOld(t *testing.T) {
	d, _ := declarations(t)
	for page, claims := range map[string][]string{
		"docs/packages/pgas.md": {"w.Shared()", "Host(ctx)", "Level(ctx, topo.Socket)", "TestEndedContext"},
		"pgas/node":             {"node.Node.Mine", "pgas/internal/node/far.go"},
		"README.md":             {"-gone-for-good", "PGAS_GONE_FOR_GOOD", "pgas/containers", "pgas.Shared"},
	} {
		for _, name := range claims {
			if d.problem(name) == "" {
				t.Errorf("%s: `%s` passes, and there is no such thing", page, name)
			}
		}
	}
	for _, page := range []string{"a body is ended after `hang.Limit`, two minutes"} {
		if d.wrongDurations(page) == nil {
			t.Errorf("%s: passes, and the limit is %v", page, d.lasting["hang.Limit"])
		}
	}
}

// TestGlossaryHasWordsOnce: no table of the glossary explains a word in two rows.
func TestGlossaryHasWordsOnce(t *testing.T) {
	content, err := os.ReadFile("../docs/learn/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, section := range strings.Split(string(content), "\n## ") {
		seen := map[string]bool{}
		for _, m := range glossaryRow.FindAllStringSubmatch(section, -1) {
			if m[1] == "word" {
				continue // the head of the table
			}
			for word := range strings.SplitSeq(m[1], ", ") {
				if seen[word] {
					t.Errorf("docs/learn/glossary.md explains %q twice in one table: leave one row", word)
				}
				seen[word] = true
				words++
			}
		}
	}
	if words < 50 {
		t.Errorf("found %d words in docs/learn/glossary.md: the form of its rows has changed", words)
	}
}

var (
	// flags of pgasvet are names of its rules
	startsOurs  = regexp.MustCompile(`^(?:pgasrun|pgasbench|pgasgen|pgasdoctor) `)
	inQuotes    = regexp.MustCompile(`'[^']*'`)
	glossaryRow = regexp.MustCompile(`(?m)^\| ([^|` + "`" + `]+?) \|`)
	commentFlag = regexp.MustCompile(`(?m)(?:^|\s)-([a-z]+(?:-[a-z]+)+|[a-z]{3,})(?:[\s=.,:;)]|$)`)
	lasts       = regexp.MustCompile("`(\\w+\\.\\w+)`,\\s+(\\w+) (second|minute|hour)s?\\b")
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
	if startsOurs.MatchString(name) {
		return d.badFlags(name)
	}
	if m := flagName.FindStringSubmatch(name); m != nil {
		return d.need(slices.Contains(foreignFlags, m[1]) || d.flags[m[1]], "no command has such a flag")
	}
	if m := ofPackage.FindStringSubmatch(name); m != nil {
		return d.qualified(m[1], m[2])
	}
	if m := member.FindStringSubmatch(name); m != nil {
		return d.need(d.anyHas(m[1], m[2]), "no package has that")
	}
	if m := bareCall.FindStringSubmatch(name); m != nil && strings.Contains(name, "(ctx") {
		return d.need(d.blocking[m[1]] || slices.Contains(foreignWords, m[1]), "nothing of that name takes a context")
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

// badFlags returns a complaint about the flags of a command of ours in a line, up to the program that it starts.
func (d *declared) badFlags(line string) string {
	line = inQuotes.ReplaceAllString(line, "")
	for _, end := range []string{" ./", " -- ", " | "} {
		line, _, _ = strings.Cut(line, end)
	}
	for _, word := range strings.Fields(line)[1:] {
		if m := flagName.FindStringSubmatch(word); m != nil && d.problem(word) != "" {
			return "no command has a flag -" + m[1]
		}
	}
	return ""
}

// wrongDurations returns what is wrong with the constants that a text names with how long they are.
func (d *declared) wrongDurations(text string) (problems []string) {
	for _, m := range lasts.FindAllStringSubmatch(text, -1) {
		n := slices.Index(numerals, m[2])
		if n < 0 {
			n, _ = strconv.Atoi(m[2])
		}
		says := time.Duration(n) * map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}[m[3]]
		if is := d.lasting[m[1]]; is != says {
			problems = append(problems, fmt.Sprintf("%s is %v, not %s %ss", m[1], is, m[2], m[3]))
		}
	}
	return problems
}

// wrongCommands returns what is wrong with the commands of a page that test a folder: it has what they run.
func (d *declared) wrongCommands(page string) (problems []string) {
	commands := codeSpan.FindAllString(codeBlock.ReplaceAllString(page, ""), -1)
	for _, block := range codeBlock.FindAllString(page, -1) {
		commands = append(commands, strings.Split(block, "\n")...)
	}
	for _, command := range commands {
		_, arguments, found := strings.Cut(command, "go test")
		if !found {
			continue
		}
		words := strings.Fields(strings.NewReplacer("'", "", "=", " ", "`", "").Replace(arguments))
		at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "./") && !strings.Contains(w, "...") })
		if at < 0 {
			continue // the reader's own package
		}
		folder := strings.TrimPrefix(words[at], "./")
		if len(d.tests[folder]) == 0 {
			problems = append(problems, fmt.Sprintf("%s: %s has no tests", command, folder))
			continue
		}
		for flag, kinds := range map[string]string{"-run": "Test|Example|Fuzz", "-bench": "Benchmark", "-fuzz": "Fuzz"} {
			i := slices.Index(words, flag)
			if i < 0 || i+1 == len(words) || slices.Contains(runsNothing, words[i+1]) {
				continue
			}
			top, _, _ := strings.Cut(words[i+1], "/")
			pattern, kind := regexp.MustCompile(top), regexp.MustCompile("^(?:"+kinds+")")
			if !slices.ContainsFunc(d.tests[folder], func(name string) bool { return kind.MatchString(name) && pattern.MatchString(name) }) {
				problems = append(problems, fmt.Sprintf("%s: %s has nothing that %s %s runs", command, folder, flag, top))
			}
		}
	}
	return problems
}

var codeSpan = regexp.MustCompile("`[^`]*`")

// runsNothing are patterns of no test, and one that stands for a test of the reader's.
var runsNothing = []string{"NONE", "^$", "TestX"}

var numerals = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// foreignFlags are those of other programs that pages name, what looks like one, and one that pgasrun builds of parts.
var foreignFlags = []string{"benchtime", "benchmem", "buildmode", "cpu", "devel", "h", "k8s", "overlay", "race", "t", "vettool"}

// foreignWords are words in CamelCase that pages name and the module does not declare.
var foreignWords = []string{"Tally", "Containerfile", "Assertion"}

// declarations reads the module, and returns the comments of its packages too.
func declarations(t *testing.T) (*declared, map[string]string) {
	t.Helper()
	d := &declared{packages: map[string]map[string]bool{}, embeds: map[string]bool{}, words: map[string]bool{}, paths: map[string]bool{},
		blocking: map[string]bool{}, flags: map[string]bool{}, lasting: map[string]time.Duration{}, tests: map[string][]string{}}
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
		test := strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/")
		if !test {
			sources.Write(content)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // testdata of tools has such files
		}
		if f.Doc != nil && !strings.Contains(name, "testdata/") {
			comments[path.Dir(name)] += f.Doc.Text()
		}
		d.add(f, test)
		d.addTests(path.Dir(name), f)
		if !strings.Contains(name, "testdata/") {
			d.addFlags(f)
		}
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
			d.blocking[x.Name.Name] = d.blocking[x.Name.Name] || !test && takesContext(x.Type)
		case *ast.GenDecl:
			for _, spec := range x.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for i, n := range s.Names {
						note("", n.Name)
						if i < len(s.Values) && !test {
							d.addDuration(pkg+"."+n.Name, s.Values[i])
						}
					}
				case *ast.TypeSpec:
					note("", s.Name.Name)
					d.addMembers(pkg, s, note)
				}
			}
		}
	}
}

// addTests notes the functions of a file that go test may run.
func (d *declared) addTests(folder string, f *ast.File) {
	for _, decl := range f.Decls {
		if x, ok := decl.(*ast.FuncDecl); ok && x.Recv == nil && testName.MatchString(x.Name.Name) {
			d.tests[folder] = append(d.tests[folder], x.Name.Name)
		}
	}
}

// takesContext reports whether a function's first parameter is a context, after a *testing.T if there is one.
func takesContext(f *ast.FuncType) bool {
	for _, param := range f.Params.List {
		if x, ok := param.Type.(*ast.SelectorExpr); ok && x.Sel.Name == "Context" {
			return true
		}
	}
	return false
}

// addDuration notes a constant of the form 4 * time.Minute.
func (d *declared) addDuration(name string, value ast.Expr) {
	product, ok := value.(*ast.BinaryExpr)
	if !ok || product.Op != token.MUL {
		return
	}
	n, isNumber := product.X.(*ast.BasicLit)
	unit, isUnit := product.Y.(*ast.SelectorExpr)
	if !isNumber || !isUnit {
		return
	}
	count, err := strconv.Atoi(n.Value)
	length := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}[unit.Sel.Name]
	if err == nil && length > 0 {
		d.lasting[name] = time.Duration(count) * length
	}
}

// addFlags notes the flags that a file defines: calls such as flags.BoolVar(&x, "name", …), and those of pgasrun's
// flagSet.
func (d *declared) addFlags(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !flagMethod.MatchString(method.Sel.Name) {
			return true
		}
		for _, arg := range call.Args[:min(3, len(call.Args))] {
			if name, ok := arg.(*ast.BasicLit); ok && name.Kind == token.STRING {
				d.flags[strings.Trim(name.Value, "`\"")] = true
				break
			}
		}
		return true
	})
}

var flagMethod = regexp.MustCompile(`^(?:(?:Bool|Duration|Float64|Int|Int64|String|Text|Uint|Uint64)?(?:Var|Func)?|text|truth|number|period|value)$`)

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
