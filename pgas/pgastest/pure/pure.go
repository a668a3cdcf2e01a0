// Package pure checks that protocols take time, randomness and scheduling from their World, so that they run in the
// simulator as they are.
package pure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// forbidden are the imports that a protocol has no use for.
var forbidden = []string{"unsafe", "time", "sync", "sync/atomic", "math/rand", "math/rand/v2", "runtime"}

// Check fails t for each file that imports what a protocol must not, starts a goroutine, or selects.
func Check(t testing.TB, files []string) {
	t.Helper()
	if len(files) == 0 {
		t.Fatal("there are no files to check")
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems(file) {
			t.Errorf("%s %s", name, problem)
		}
	}
}

func problems(file *ast.File) (list []string) {
	for _, imp := range file.Imports {
		if path, _ := strconv.Unquote(imp.Path.Value); slices.Contains(forbidden, path) {
			list = append(list, "imports "+path+": ask the World")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt:
			list = append(list, "starts a goroutine")
		case *ast.SelectStmt:
			list = append(list, "selects: a wait is WaitUntil")
		}
		return true
	})
	return list
}
