package locks_test

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

// Outside of the protocols: what the goroutines of a PE do among themselves, and pauses.
var helpers = []string{"localgate.go", "poll.go", "service.go", "service_host.go"}

// TestProtocolsArePure: time, randomness and scheduling come from the World, so that a protocol runs in the
// simulator as it is.
func TestProtocolsArePure(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_pgas.go") || slices.Contains(helpers, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			switch path, _ := strconv.Unquote(imp.Path.Value); path {
			case "unsafe", "time", "sync", "sync/atomic", "math/rand", "math/rand/v2", "runtime":
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
