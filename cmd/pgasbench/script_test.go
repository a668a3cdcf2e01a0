package main

// What a user sees on the command line: each file of testdata/script is a session. pgasbench and pgasrun
// are the real programs.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gopgas/gopgas/dsm/pager"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pgasbench": main})
}

func TestScripts(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "../pgasrun").CombinedOutput(); err != nil {
		t.Fatalf("building pgasrun: %v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name != "pagefaults" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return pager.Available() == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			return nil
		},
	})
}
