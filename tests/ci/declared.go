package main

// What the files of the tests declare: functions, and the attributes in their comments.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// target is one function of a package's tests.
type target struct{ pkg, name string }

// packagesOf returns the packages of targets, each once.
func packagesOf(targets []target) (packages []string) {
	for _, t := range targets {
		if !slices.Contains(packages, t.pkg) {
			packages = append(packages, t.pkg)
		}
	}
	return packages
}

// marked is a target, with the attributes that its comment has.
type marked struct {
	target
	words []string
}

var anyTest = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)

// knownOfTests are the attributes of a test.
var knownOfTests = map[string]string{
	"weekly": "of those tests that compute for long, a seventh runs each day, and with run-tests -long all",
	"ucx":    "it depends on the release of UCX or Open MPI, and runs with those of Debian 13, too; ucx=PATTERN: these subtests do",
}

// wordsOfTest returns the attributes that the comment of a test has.
func wordsOfTest(file string, doc *ast.CommentGroup) (words []string, err error) {
	if doc == nil {
		return nil, nil
	}
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(c.Text, "//ci:")
		if !ok {
			continue
		}
		if words != nil {
			return nil, fmt.Errorf("%s: a test has two lines //ci: put all its attributes into one", file)
		}
		words = strings.Fields(text)
		for _, word := range words {
			if name, _, _ := strings.Cut(word, "="); knownOfTests[name] == "" {
				return nil, fmt.Errorf("%s: %s: there is no attribute %s: see tests/ci/attributes.go", file, c.Text, word)
			}
		}
	}
	return words, nil
}

// functions finds the functions that declares matches in the files of tests below root, in the order of these files.
// The first group of declares is the name. Text in a comment or a string is no function.
func functions(root string, declares *regexp.Regexp) (targets []target, err error) {
	found, err := markedFuncs(root, declares)
	for _, f := range found {
		targets = append(targets, f.target)
	}
	return targets, err
}

func markedFuncs(root string, declares *regexp.Regexp) (found []marked, err error) {
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		of, err := markedFuncsOf(path, declares)
		if err != nil {
			return nil, err
		}
		for _, f := range of {
			f.pkg = "./" + filepath.ToSlash(dir)
			found = append(found, f)
		}
	}
	return found, nil
}

// markedFuncsOf finds the functions of one file.
func markedFuncsOf(path string, declares *regexp.Regexp) (found []marked, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		m := declares.FindSubmatch(text[fset.Position(f.Pos()).Offset:fset.Position(f.Type.End()).Offset])
		if m == nil {
			continue
		}
		words, err := wordsOfTest(path, f.Doc)
		if err != nil {
			return nil, err
		}
		found = append(found, marked{target{name: string(m[1])}, words})
	}
	return found, nil
}

// goFiles returns all Go files except those below testdata, some of which are wrong on purpose.
func goFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}
