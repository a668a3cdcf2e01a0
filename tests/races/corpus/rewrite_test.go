package corpus

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// rewritten writes the files of the programs, as rewrite returns them, into dir. It returns the file that tells the go
// command so.
func rewritten(t *testing.T, dir string, rewrite func(file string) []byte) (overlay string) {
	t.Helper()
	files, err := filepath.Glob("testdata/programs/*.go")
	if err != nil {
		t.Fatal(err)
	}
	replaced := map[string]string{}
	for _, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replaced[abs] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replaced[abs], rewrite(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// localLoad is an element of a PE's own copy, and what follows. If the latter is an assignment, it is no load.
var localLoad = regexp.MustCompile(`([^&\w])(\w+)\.Local\(\)\[((?:[^\[\]:]|\[[^\[\]:]*\])+)\](\s*(?:=[^=]|\+\+|--|\+=|-=))?`)

// loadsAsGets builds a test binary of programs that read their own copies with Get, so that a detector that sees no
// loads sees these.
func loadsAsGets(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	overlay := rewritten(t, dir, func(file string) []byte {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return localLoad.ReplaceAllFunc(text, func(load []byte) []byte {
			m := localLoad.FindSubmatch(load)
			if len(m[4]) > 0 {
				return load
			}
			return []byte(string(m[1]) + string(m[2]) + ".At(int(" + string(m[3]) + ")).Get(w.PE())")
		})
	})
	binary = filepath.Join(dir, "corpus.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", binary, ".")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return binary
}
