package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compilerReport returns the compiler's report on the package in a folder and what that instantiates.
func compilerReport(t *testing.T, folder string) string {
	t.Helper()
	cell, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", os.DevNull, "-gcflags=-m=2", ".")
	cmd.Dir = cell
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	return string(out)
}

// TestAccessorsInline asks the compiler about generated accessors: each put and get of a plain field
// must inline down to the store or load itself, with no call left but the slow path's, and nothing
// moved to the heap.
func TestAccessorsInline(t *testing.T) {
	report := compilerReport(t, "fastpath")
	for _, accessor := range []string{"PutSum", "GetSum", "PutFlag", "GetFlag", "PutPair", "GetPair"} {
		if !regexp.MustCompile(`can inline CellRef\.` + accessor + ` `).MatchString(report) {
			t.Errorf("CellRef.%s does not inline:\n%s", accessor, grep(report, "CellRef."+accessor))
		}
	}
	if !strings.Contains(report, "can inline CellSym.At ") {
		t.Errorf("CellSym.At does not inline:\n%s", grep(report, "CellSym.At"))
	}
	for _, name := range []string{"store", "fetch", "live"} {
		if !strings.Contains(report, fmt.Sprintf("inlining call to pgas.%s", name)) {
			t.Errorf("the fast path pgas.%s is not inlined into the accessors", name)
		}
	}
	if moved := grep(report, "moved to heap"); strings.Contains(moved, "main.go") {
		t.Errorf("an access allocates:\n%s", moved)
	}
}

// TestAtomicsInline: a fetch of an atomic word inlines down to the load, and the most common updates down to the locked
// instruction. A view of package atomics inlines down to one call of the runtime, or is one call into which the update
// is inlined.
func TestAtomicsInline(t *testing.T) {
	report := compilerReport(t, "fastpath")
	for _, method := range []string{
		"pgas.Atomic[go.shape.int64].Fetch", "pgas.Atomic[go.shape.int64].Set", "pgas.Atomic[go.shape.int64].Swap",
		"pgas.Atomic[go.shape.int64].FetchAdd", "pgas.Atomic[go.shape.int64].Add",
		"pgas.Atomic[go.shape.int64].FetchInc", "pgas.Atomic[go.shape.int64].Inc",
		"pgas.Atomic[go.shape.uint64].CompareSwap", "atomics.Integer[go.shape.int64].CompareAndSwap",
		"atomics.Integer[go.shape.int64].And", "atomics.Integer[go.shape.int64].Or",
	} {
		if !strings.Contains(report, "can inline "+method+" ") {
			t.Errorf("%s does not inline:\n%s", method, grep(report, "inline "+method))
		}
	}
	for _, method := range []string{"Set", "Swap", "FetchAdd"} {
		if inlined := "inlining call to pgas.Atomic[go.shape.int64]." + method; !regexp.MustCompile(`atomics\.go:[0-9:]+ ` + regexp.QuoteMeta(inlined)).MatchString(report) {
			t.Errorf("%s is not inlined into package atomics:\n%s", method, grep(report, inlined))
		}
	}
}

// TestQuietInlines: a quiet inlines down to the locked instruction.
func TestQuietInlines(t *testing.T) {
	report := compilerReport(t, "../pgas")
	for _, f := range []string{"quietStores", "(*Context).Quiet", "(*World).Quiet", "mustQuietStores", "(*Context).MustQuiet", "(*World).MustQuiet"} {
		if !strings.Contains(report, "can inline "+f+" ") {
			t.Errorf("%s does not inline:\n%s", f, grep(report, "inline "+f))
		}
	}
}

// TestCoherentAccessesInline: an access to one element of coherent memory inlines to a load or a store behind one
// branch, with the check of mode Soft; so does a generated getter.
func TestCoherentAccessesInline(t *testing.T) {
	report := compilerReport(t, "../samples/bfs")
	for _, method := range []string{"At", "Set", "Read", "Write"} {
		name := "dsm.Array[go.shape.int64]." + method
		if !strings.Contains(report, "can inline "+name+" ") {
			t.Errorf("%s does not inline:\n%s", name, grep(report, "inline "+name))
		}
	}
	if !strings.Contains(report, "inlining call to dsm.reading") {
		t.Error("the check of mode Soft is not inlined into At")
	}
	report = compilerReport(t, "../cmd/pgasgen/testdata/cases/coherent")
	for _, getter := range []string{"Pos", "Vel", "Mass", "Moment"} {
		if !strings.Contains(report, "can inline BodyRef."+getter+" ") {
			t.Errorf("BodyRef.%s does not inline:\n%s", getter, grep(report, "inline BodyRef."+getter+" "))
		}
	}
}

// TestPutIsAStore reads the machine code of a loop of puts: the fast path must hold no call, and nothing of what
// World.Stats counts.
func TestPutIsAStore(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "fastpath")
	if out, err := exec.Command("go", "build", "-o", bin, "./fastpath").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s", `^main\.putLoop$`, bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`CALL (\S+)`).FindAllStringSubmatch(string(out), -1)
	if len(calls) == 0 {
		t.Fatalf("no call at all in putLoop, not even the slow path's: what was measured?\n%s", out)
	}
	if strings.Contains(string(out), "record") {
		t.Errorf("the fast path has instructions that count, though nothing is recorded:\n%s", out)
	}
	for _, c := range calls {
		if !slowPath.MatchString(c[1]) {
			t.Errorf("putLoop calls %s: the fast path is no longer inline", c[1])
		}
	}
}

// slowPath are the calls that an inlined access may have: for other hosts, for indexes out
// of range, or to grow the stack. Registers hold function values that the compiler did not resolve,
// which only the slow path has.
var slowPath = regexp.MustCompile(`^(runtime\.(morestack|panic).*|.*pgas\.(slowPut|slowGet|panicAt).*|[A-Z][A-Z0-9]*)(\(SB\))?$`)

func grep(text, word string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
