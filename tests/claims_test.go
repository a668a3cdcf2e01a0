package tests

// What docs/internals/architecture.md and docs/learn/glossary.md name must exist. In back-quotes stand
//
//	pgas/boot.State.Ring    a name of a package, by its path in the module
//	pgas/boot, wire.h       a folder, or a file by its path or, if there is one only, its name
//	TestClaims              a test of the module
//	PGAS_AMO                a variable of pgasrun
//	`pgas-dial`             a thread, or another string of the C below ucx
//
// and nothing else. A number at the beginning of a table's row is that of the constant behind it.

import (
	"fmt"
	"go/constant"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var claimingPages = []string{"../docs/internals/architecture.md", "../docs/learn/glossary.md"}

// A claims knows what is in the module.
type claims struct {
	types map[string]*types.Package // by path in the module
	files []string                  // and folders, by path in the module
	text  map[string]string         // of all tests, of the variables' table, of C
}

func TestClaims(t *testing.T) {
	pages := map[string]string{}
	for _, page := range claimingPages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages[page] = string(content)
	}
	c := newClaims(t, pages)
	for page, content := range pages {
		for _, problem := range c.problems(content) {
			t.Errorf("%s:%s", page, problem)
		}
	}
}

// TestClaimsFindFaults: each way in which a page can be wrong is found.
func TestClaimsFindFaults(t *testing.T) {
	c := &claims{
		types: map[string]*types.Package{"pgas": fakePackage()},
		files: []string{"pgas", "pgas/boot", "ucx/wire.h"},
		text:  map[string]string{"tests": "func TestRing(", "variables": `"PGAS_AMO"`, "c": `"pgas-dial"`},
	}
	c.types["pgas"].Scope().Insert(types.NewConst(0, c.types["pgas"], "Most", types.Typ[types.Int], constant.MakeInt64(2048)))
	for _, test := range []struct{ page, want string }{
		{"`pgas.World.Sync`, `pgas/boot`, `wire.h`, `TestRing`, `PGAS_AMO`, `pgas-dial`", ""},
		{"```\n`pgas.Gone`\n```", ""},
		{"| 2 KiB | `pgas.Most` |", ""},
		{"| 2048 | `pgas.Most` |", ""},
		{"| 4 KiB | `pgas.Most` |", "1: pgas.Most is 2048, not 4 KiB"},
		{"so\n\n`pgas.Gone`", "3: there is no pgas.Gone"},
		{"`pgas.World.Gone`", "there is no pgas.World.Gone"},
		{"`gone.World`", "there is no gone.World"},
		{"`pgas/gone`", "there is no pgas/gone"},
		{"`gone.c`", "there is no gone.c"},
		{"`TestRin`", "there is no TestRin"},
		{"`PGAS_AM`", "there is no PGAS_AM"},
		{"`pgas-dia`", "there is no pgas-dia"},
	} {
		found := strings.Join(c.problems(test.page), "\n")
		if !strings.Contains(found, test.want) || (test.want == "") != (found == "") {
			t.Errorf("%s: found %q, want %q", test.page, found, test.want)
		}
	}
}

// problems returns a complaint with its line for each claim that is not true.
func (c *claims) problems(page string) (problems []string) {
	for line, names := range claimsOf(page) {
		for _, name := range names {
			if !c.exists(name) {
				problems = append(problems, fmt.Sprintf("%d: there is no %s", line, name))
			}
		}
	}
	n := 0
	for line := range strings.Lines(page) {
		n++
		if m := numbered.FindStringSubmatch(line); m != nil {
			if v := c.value(m[2]); v != nil && *v != bytesOf(m[1]) {
				problems = append(problems, fmt.Sprintf("%d: %s is %d, not %s", n, m[2], *v, m[1]))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

var (
	claim    = regexp.MustCompile("`([^`]+)`")
	numbered = regexp.MustCompile("^\\| (\\d+(?: [KM]iB)?) \\| `([^`]+)`")
	aName    = regexp.MustCompile(`^([\w/]+)\.(\w+(?:\.\w+)?)$`)
)

// claimsOf returns what stands in back-quotes outside of blocks, by line.
func claimsOf(page string) map[int][]string {
	found := map[int][]string{}
	n, fenced := 0, false
	for line := range strings.Lines(page) {
		n++
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		for _, m := range claim.FindAllStringSubmatch(line, -1) {
			if !fenced {
				found[n] = append(found[n], m[1])
			}
		}
	}
	return found
}

func (c *claims) exists(name string) bool {
	switch {
	case strings.HasPrefix(name, "Test"):
		return strings.Contains(c.text["tests"], "func "+name+"(")
	case strings.HasPrefix(name, "PGAS_"), strings.HasPrefix(name, "SHMEM_"), strings.HasPrefix(name, "UCX_"):
		return strings.Contains(c.text["variables"], `"`+name+`"`)
	case c.isFile(name), strings.Contains(c.text["c"], `"`+name+`"`):
		return true
	}
	return c.lookup(name) != nil
}

func (c *claims) isFile(name string) bool {
	same := 0
	for _, file := range c.files {
		if file == name {
			return true
		}
		if filepath.Base(file) == name && filepath.Ext(name) != "" {
			same++
		}
	}
	return same == 1
}

// lookup returns what a name of a package stands for, or nil. It need not be exported.
func (c *claims) lookup(name string) types.Object {
	m := aName.FindStringSubmatch(name)
	if m == nil || c.types[m[1]] == nil {
		return nil
	}
	pkg := c.types[m[1]]
	first, member, isMember := strings.Cut(m[2], ".")
	obj := pkg.Scope().Lookup(first)
	if obj == nil || !isMember {
		return obj
	}
	found, _, _ := types.LookupFieldOrMethod(obj.Type(), true, pkg, member)
	return found
}

// value returns what the constant of that name is, nil if it is none.
func (c *claims) value(name string) *uint64 {
	k, ok := c.lookup(name).(*types.Const)
	if !ok {
		return nil
	}
	v, exact := constant.Uint64Val(constant.ToInt(k.Val()))
	if !exact {
		return nil
	}
	return &v
}

// bytesOf reads "64 KiB".
func bytesOf(text string) uint64 {
	digits, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n << map[string]int{"": 0, "KiB": 10, "MiB": 20}[unit]
}

// newClaims reads the module as far as the pages speak of it.
func newClaims(t *testing.T, pages map[string]string) *claims {
	t.Helper()
	c := &claims{types: map[string]*types.Package{}, text: map[string]string{}}
	if err := filepath.WalkDir("..", c.visit); err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, page := range pages {
		for _, names := range claimsOf(page) {
			for _, name := range names {
				if m := aName.FindStringSubmatch(name); m != nil && slices.Contains(c.files, m[1]) {
					patterns = append(patterns, module+"/"+m[1])
				}
			}
		}
	}
	slices.Sort(patterns)
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo},
		slices.Compact(patterns)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		c.types[inModule(p.PkgPath)] = p.Types
	}
	return c
}

// visit notes a file or a folder of the module.
func (c *claims) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	name, kind := strings.TrimPrefix(path, "../"), ""
	switch {
	case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "testdata"):
		return fs.SkipDir
	case strings.HasSuffix(name, "_test.go"):
		kind = "tests"
	case strings.HasPrefix(name, "pgas/boot/") && strings.HasSuffix(name, ".go"):
		kind = "variables"
	case strings.HasPrefix(name, "ucx/") && (strings.HasSuffix(name, ".c") || strings.HasSuffix(name, ".h")):
		kind = "c"
	}
	c.files = append(c.files, name)
	if kind == "" {
		return nil
	}
	content, err := os.ReadFile(path)
	c.text[kind] += string(content)
	return err
}
