package notify

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMatchingIsPure: exclusion, time and waiting come from the World, so that matching runs in the simulator
// as it is.
func TestMatchingIsPure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			switch path, _ := strconv.Unquote(imp.Path.Value); path {
			case "unsafe", "time", "sync", "sync/atomic", "math/rand", "math/rand/v2", "runtime":
				t.Errorf("%s imports %s: ask the World", name, path)
			}
		}
	}
}
