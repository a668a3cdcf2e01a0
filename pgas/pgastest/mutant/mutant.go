// Package mutant plants bugs in a package's own source, for tests that say what its tests must find.
//
// A planted bug is an edit of one source file, in Go or in C. The package is compiled with the edited file in its place
// (go test -overlay), and named tests of it must fail, or die. A bug that they pass means that the tests look away. `go
// run ./tests/mutants` tries all bugs of the repository and records which test caught which.
package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// A Bug is an edit of a source file.
type Bug struct {
	Name  string
	File  string   // from the package's folder, of the package or of one that it imports
	Edits []string // old, new, old, new, …; the file has each old text once
	Run   string   // a pattern of the tests that find it, as of go test -run

	// Programs: the programs that the tests build have the bug, too.
	Programs bool
}

// New returns a bug: edits are old, new, old, new, …
func New(name, file, run string, edits ...string) Bug {
	return Bug{Name: name, File: file, Edits: edits, Run: run}
}

// InPrograms returns b, for tests that build programs in which the bug is to be.
func (b Bug) InPrograms() Bug {
	b.Programs = true
	return b
}

// Plant tries the bugs of one kind, each as a subtest. All must follow the source: an edit whose old text is not in the
// file fails. Without all, only the first one is compiled and run. args go to the package's tests.
func Plant(t *testing.T, bugs []Bug, all bool, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the package for each planted bug")
	}
	for i, b := range bugs {
		t.Run(b.Name, func(t *testing.T) {
			text := b.source(t)
			if i > 0 && !all {
				t.Skip("-long tries all planted bugs")
			}
			b.mustBeFound(t, text, args)
		})
	}
}

// source returns the source with the bug in it.
func (b Bug) source(t *testing.T) string {
	src, err := os.ReadFile(b.File)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for i := 0; i+1 < len(b.Edits); i += 2 {
		if n := strings.Count(text, b.Edits[i]); n != 1 {
			t.Fatalf("%s has %q %d times: the planted bug must follow the source", b.File, b.Edits[i], n)
		}
		text = strings.Replace(text, b.Edits[i], b.Edits[i+1], 1)
	}
	return text
}

// mustBeFound runs the tests with text in place of the file, until one of them fails. One must, or the program must
// die.
func (b Bug) mustBeFound(t *testing.T, text string, args []string) {
	overlay := b.overlay(t, text)
	binary := b.build(t, overlay)
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	out := &output{found: cancel}
	cmd := exec.CommandContext(ctx, binary, append([]string{"-test.v", "-test.failfast", "-test.run=" + b.Run}, args...)...)
	if b.Programs {
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // processes that the tests have started keep the output open
	err := cmd.Run()
	switch printed := out.text.String(); {
	case out.failed != "":
		t.Logf("caught by %s", out.failed)
	case err == nil:
		t.Fatalf("nothing has found it:\n%s", printed)
	case ctx.Err() != nil: // a long search that finds nothing looks the same
		t.Fatalf("neither found nor passed: %v\n%s", context.Cause(ctx), printed)
	case strings.Contains(printed, "panic: ") || strings.Contains(printed, "fatal error: "):
		t.Logf("caught by %s, which dies: %v", b.Run, err)
	default:
		t.Fatalf("it was not found but did not run:\n%s", printed)
	}
}

// output keeps what tests print, and calls found when the first of them has failed.
type output struct {
	text   bytes.Buffer
	failed string // the test
	found  func()
}

func (o *output) Write(p []byte) (int, error) {
	o.text.Write(p)
	if _, after, ok := strings.Cut(o.text.String(), "--- FAIL: "); ok && o.failed == "" {
		if name, _, ok := strings.Cut(after, " "); ok {
			o.failed = name
			o.found()
		}
	}
	return len(p), nil
}

// build compiles the package's tests with an overlay.
func (b Bug) build(t *testing.T, overlay string) (binary string) {
	binary = filepath.Join(t.TempDir(), "mutant.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("it does not build: %v\n%s", err, out)
	}
	return binary
}

// overlay writes the edited file and the list that go test -overlay reads, and returns the list's path.
func (b Bug) overlay(t *testing.T, text string) string {
	dir := t.TempDir()
	real, err := filepath.Abs(b.File)
	if err != nil {
		t.Fatal(err)
	}
	bad, overlay := filepath.Join(dir, filepath.Base(b.File)), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {real: bad}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{bad: []byte(text), overlay: list} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
