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
	program := filepath.Join(t.TempDir(), "dsmvet")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// The programs that others learn from have no finding.
func TestOwnProgramsHaveNoFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks all samples")
	}
	out, err := exec.Command("go", "vet", "-vettool="+built(t), module+"/samples/...", module+"/templates/...", module+"/dsm").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Alone and under go vet the command fails and prints findings with their places.
func TestFindingsArePrinted(t *testing.T) {
	dsmvet := built(t)
	const program = module + "/cmd/dsmvet/coherent/testdata/atomics"
	for name, command := range map[string]*exec.Cmd{
		"alone":  exec.Command(dsmvet, program),
		"go vet": exec.Command("go", "vet", "-vettool="+dsmvet, program),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "atomics.go:18:") || !strings.Contains(string(out), "use a word of symmetric memory") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
