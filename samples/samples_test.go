// Package samples tests the sample programs as a user runs them: built by go build, started by pgasrun.
//
//ci:norace nocgo=short
package samples

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestScripts(t *testing.T) {
	bin := t.TempDir()
	for _, pkg := range []string{"../cmd/pgasrun", "./bale", "./bfs", "./bucket", "./cholesky", "./gups", "./hashtable", "./heat", "./hello", "./mapservice", "./npb/cg", "./npb/is", "./p2p", "./pagerank", "./queens", "./ring", "./stencil", "./transpose", "./tree", "./wordcount"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(bin, filepath.Base(pkg)), pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("building %s: %v\n%s", pkg, err, out)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			return nil
		},
	})
}

// TestGenerated: what is checked in is what pgasgen writes.
func TestGenerated(t *testing.T) {
	out, err := exec.Command("go", "run", "../cmd/pgasgen", "-check", "./...", "./cholesky").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
