package main

import (
	"os/exec"
	"path/filepath"
	"slices"
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

// TestBothWays: go vet shows a rule less of other packages, and the rules find the same.
func TestBothWays(t *testing.T) {
	pgasvet := built(t)
	for _, set := range []string{"snippets", "unseen"} {
		program := module + "/cmd/pgasvet/rules/testdata/" + set
		alone := findings(exec.Command(pgasvet, program))
		vet := findings(exec.Command("go", "vet", "-vettool="+pgasvet, program))
		if len(alone) < 10 || !slices.Equal(alone, vet) {
			t.Errorf("%s: alone:\n%s\nunder go vet:\n%s", set, strings.Join(alone, "\n"), strings.Join(vet, "\n"))
		}
	}
}

// findings returns what a command reports, in order, with the names of files without their folders.
func findings(c *exec.Cmd) (all []string) {
	out, _ := c.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if place, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			all = append(all, filepath.Base(place)+": "+text)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestWrongFlags: a flag that is none, or has a value that is none of its own, is answered with one line.
func TestWrongFlags(t *testing.T) {
	pgasvet := built(t)
	for _, test := range []struct{ args, want string }{
		{"-c two .", `invalid value "two" for flag -c: write a whole number, such as 4`},
		{"-json --c=two .", `invalid value "two" for flag -c: write a whole number, such as 4`},
		{"-fix=2 .", `invalid boolean value "2" for -fix: write the flag alone, or =false behind it`},
		{"-c", "flag needs an argument: -c"},
		{"-unfence .", "flag provided but not defined: -unfence"},
	} {
		out, err := exec.Command(pgasvet, strings.Fields(test.args)...).CombinedOutput()
		want := "pgasvet: " + test.want + ": `pgasvet -h` lists the flags\n"
		if err == nil || string(out) != want {
			t.Errorf("%s: %v, %q; want %q", test.args, err, out, want)
		}
	}
}
