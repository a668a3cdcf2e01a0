package corpus

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/built"
)

var vetReport = regexp.MustCompile(`(?m)^\S*/(\w+\.go):(\d+):\d+: .*?(?:of line (\d+).*)?$`)

// vetted returns what pgasvet reports of the programs: for each function the reports, by the lines that they name. It
// reads the source in which the condition right has the value given, so that it sees one program.
func vetted(t *testing.T, right bool) map[string]map[string]string {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "pgasvet")
	build := exec.Command("go", "build", "-o", tool, "./cmd/pgasvet")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	overlay := rewritten(t, dir, func(file string) []byte { return fold(t, file, right) })
	vet := exec.Command("go", "vet", "-overlay="+overlay, "-vettool="+tool, "./testdata/programs")
	text, err := vet.CombinedOutput()
	if bad := regexp.MustCompile(`(?m)^vet: .*|.*: expected .*|.*declared and not used.*|.*: undefined: .*`).Find(text); bad != nil {
		t.Fatalf("%s", bad)
	}
	if found := vetReport.FindAllStringSubmatch(string(text), -1); err == nil == (len(found) > 0) {
		t.Fatalf("go vet: %v\n%s", err, text)
	}
	reports := map[string]map[string]string{}
	for _, m := range vetReport.FindAllStringSubmatch(string(text), -1) {
		name := functionAt(t, m[1], m[2])
		if reports[name] == nil {
			reports[name] = map[string]string{}
		}
		reports[name][m[1]+":"+m[2]] = m[0]
		reports[name][m[1]+":"+m[3]] = m[0]
	}
	return reports
}

// fold returns the text of a file without the branches that are not taken if right has the value given. Lines keep
// their numbers.
func fold(t *testing.T, file string, right bool) []byte {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	var dead [][2]int
	blank := func(from, to token.Pos) {
		dead = append(dead, [2]int{offset(from), offset(to)})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		value, known := conditionOf(branch.Cond, right)
		switch {
		case !known:
		case value:
			blank(branch.Pos(), branch.Body.Pos())
			blank(branch.Body.End(), branch.End())
		case branch.Else == nil:
			blank(branch.Pos(), branch.End())
		default:
			blank(branch.Pos(), branch.Else.Pos())
		}
		return true
	})
	for _, d := range dead {
		for i := d[0]; i < d[1]; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
	return usedOnce(f, text, offset, dead)
}

// usedOnce returns text with a use of each variable of f that is declared outside of the dead parts and used in them
// only, as the compiler wants. It tells variables by their names.
func usedOnce(f *ast.File, text []byte, offset func(token.Pos) int, dead [][2]int) []byte {
	uses := map[int]string{} // of names, at the starts of dead parts
	for _, fn := range f.Decls {
		alive, inDead, declared := map[string]int{}, map[string]int{}, map[string]bool{}
		ast.Inspect(fn, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
				for _, to := range a.Lhs {
					declared[to.(*ast.Ident).Name] = true
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			at := offset(id.Pos())
			i := slices.IndexFunc(dead, func(d [2]int) bool { return d[0] <= at && at < d[1] })
			if i < 0 {
				alive[id.Name]++
			} else {
				inDead[id.Name] = dead[i][0]
			}
			return true
		})
		for name, at := range inDead {
			if declared[name] && alive[name] == 1 {
				uses[at] += "; _ = " + name + ";"
			}
		}
	}
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(uses))) {
		text = slices.Insert(text, at, []byte(uses[at])...)
	}
	return text
}

// conditionOf returns the value of right or !right.
func conditionOf(cond ast.Expr, right bool) (value, known bool) {
	switch c := cond.(type) {
	case *ast.Ident:
		return right, c.Name == "right"
	case *ast.UnaryExpr:
		value, known = conditionOf(c.X, right)
		return !value, known
	}
	return false, false
}

// functionAt returns the name of the function with a line.
func functionAt(t *testing.T, file, line string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join("testdata", "programs", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fset.Position(fn.Pos()).Line <= n && n <= fset.Position(fn.End()).Line {
			return fn.Name.Name
		}
	}
	return strings.TrimSuffix(file, ".go")
}

// vetOutcomes returns what pgasvet finds as if it had run the programs. A report of one of the two lines counts as
// both, since pgasvet names one line.
func vetOutcomes(t *testing.T) map[string]*outcome {
	outcomes, marks := map[string]*outcome{}, marks(t)
	for _, right := range []bool{false, true} {
		reports := vetted(t, right)
		for _, p := range allPrograms(right) {
			o := &outcome{runs: 1}
			outcomes[p.String()] = o
			for line, report := range reports[p.Name] {
				if marks[p.Name][line] {
					o.lines = 1
				}
				o.others = append(o.others, report)
			}
			if o.lines == 0 && len(o.others) > 0 {
				o.otherwise = 1
			}
		}
	}
	return outcomes
}
