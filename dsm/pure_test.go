package dsm_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// protocolFiles run in the simulator as they are: time, randomness and scheduling come from the World.
var protocolFiles = []string{
	"version.go", "turn.go", "release.go", "notice.go", "acquire.go", "barrier.go", "mutex.go", "event.go", "fence.go",
	"fixed.go", "directory.go", "classified.go", "uncached.go",
}

func TestProtocolsArePure(t *testing.T) {
	for _, name := range protocolFiles {
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if slices.Contains([]string{"unsafe", "time", "runtime"}, path) || strings.HasPrefix(path, "sync") || strings.HasPrefix(path, "math/rand") {
				t.Errorf("%s imports %s: ask the World", name, path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", name)
			case *ast.SelectStmt:
				t.Errorf("%s selects: a wait is WaitUntil", name)
			}
			return true
		})
	}
}
