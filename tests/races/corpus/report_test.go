package corpus

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marks returns the marked lines of each function, as file.go:line.
func marks(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob("testdata/programs/*.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := map[string]map[string]bool{}
	for _, file := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				marked[fn.Name.Name] = marksIn(fset, f, fn)
			}
		}
	}
	return marked
}

// marksIn returns the lines of the function whose comments say that they conflict.
func marksIn(fset *token.FileSet, f *ast.File, fn *ast.FuncDecl) map[string]bool {
	lines := map[string]bool{}
	for _, group := range f.Comments {
		if group.Pos() < fn.Pos() || group.Pos() > fn.End() {
			continue
		}
		switch strings.TrimSpace(strings.TrimPrefix(group.List[0].Text, "//")) {
		case "first", "then", "first and then":
			at := fset.Position(group.Pos())
			lines[lineOf(at.Filename, at.Line)] = true
		}
	}
	return lines
}

func lineOf(file string, line int) string {
	return (&token.Position{Filename: filepath.Base(file), Line: line}).String()
}

var (
	checked = regexp.MustCompile(`race on .*?: .*? at \S*?(\w+\.go:\d+).*? at \S*?(\w+\.go:\d+)`)
	goFrame = regexp.MustCompile(`^\s+(\S+/corpus/testdata/programs/\w+\.go):(\d+)`)
	access  = regexp.MustCompile(`^(?:(?:Atomic )?(?:Read|Write)|Previous (?:atomic )?(?:read|write)) at .* by (main goroutine|goroutine \d+):`)
	created = regexp.MustCompile(`^Goroutine (\d+) .*created at:`)
)

// conflicts returns the two lines of each report in text. A line is that of the program's first frame in the stack of
// the access. If there is none, it is the one where the goroutine of the access was created.
func conflicts(text string) (all [][2]string) {
	for _, m := range checked.FindAllStringSubmatch(text, -1) {
		all = append(all, [2]string{m[1], m[2]})
	}
	for _, report := range strings.Split(text, "WARNING: DATA RACE\n")[1:] {
		report, _, _ = strings.Cut(report, "\n==================")
		var accesses [][2]string // the goroutine, and the line
		begun := map[string]string{}
		for _, block := range strings.Split(report, "\n\n") {
			head, stack, _ := strings.Cut(block, "\n")
			if m := access.FindStringSubmatch(head); m != nil {
				accesses = append(accesses, [2]string{strings.TrimPrefix(m[1], "goroutine "), firstLine(stack)})
			} else if m := created.FindStringSubmatch(head); m != nil {
				begun[m[1]] = firstLine(stack)
			}
		}
		var pair [2]string
		for i, a := range accesses[:min(2, len(accesses))] {
			if pair[i] = a[1]; pair[i] == "" {
				pair[i] = begun[a[0]]
			}
		}
		all = append(all, pair)
	}
	return all
}

// firstLine returns the first line of a program in a stack.
func firstLine(stack string) string {
	for line := range strings.Lines(stack) {
		m := goFrame.FindStringSubmatch(line)
		if m != nil && filepath.Base(m[1]) != "corpus.go" {
			return filepath.Base(m[1]) + ":" + m[2]
		}
	}
	return ""
}
