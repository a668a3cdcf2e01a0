package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/gopgas/gopgas"

// built returns the path of the command.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "pgasvet")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// Alone and under go vet the command fails and prints findings with their places.
func TestFindingsArePrinted(t *testing.T) {
	pgasvet := built(t)
	const program = module + "/cmd/pgasvet/rules/coherent/testdata/atomics"
	for name, command := range map[string]*exec.Cmd{
		"alone":  exec.Command(pgasvet, program),
		"go vet": exec.Command("go", "vet", "-vettool="+pgasvet, program),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "atomics.go:18:") || !strings.Contains(string(out), "use a word of symmetric memory") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestWrongNumber: -c with a value that is no number is answered with one line.
func TestWrongNumber(t *testing.T) {
	pgasvet := built(t)
	for _, args := range [][]string{{"-c", "two", "."}, {"-json", "--c=two", "."}} {
		out, err := exec.Command(pgasvet, args...).CombinedOutput()
		want := "pgasvet: invalid value \"two\" for flag -c: write a whole number, such as 4\n"
		if err == nil || string(out) != want {
			t.Errorf("%v: %v, %q; want %q", args, err, out, want)
		}
	}
	if err := checkLines([]string{"-fix", "-c", "3", "./..."}); err != nil {
		t.Error(err)
	}
}
