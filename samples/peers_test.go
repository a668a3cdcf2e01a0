package samples

// The programs that stand in tests/peers too, in C: both compute the same.

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// line is what both sides print; samples/wordcount has a line of its own.
type line struct {
	Computed              string
	Identifiers, Distinct int64
	Digest                string
}

func (l line) computed() string {
	if l.Computed != "" {
		return l.Computed
	}
	return fmt.Sprintf("%d identifiers, %d different, digest %s", l.Identifiers, l.Distinct, l.Digest)
}

// TestPeersAgree runs the samples that count and rank, and the programs in C, on the same small inputs, on numbers of
// PEs that do not divide them.
func TestPeersAgree(t *testing.T) {
	for _, need := range []string{"oshcc", "oshrun"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install openmpi-bin libopenmpi-dev)", need)
		}
	}
	bin := t.TempDir()
	runCommand(t, "go", "build", "-o", bin+"/", "../cmd/pgasrun", "./wordcount", "./kmer", "./pagerank")
	fasta := filepath.Join(bin, "reads.fasta")
	if err := os.WriteFile(fasta, []byte(">a\nACGTTGCAAN\nACGTT\r\n>b\nttgcaacgt\n>\nACG"), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs := map[string][]string{
		"wordcount": {"-input ."},
		"kmer":      {"-bases 60000 -capacity 16384", "-k 5 -capacity 64 -input " + fasta},
		"pagerank":  {"-vertices 1000", "-vertices 2 -degree 1", "-vertices 777 -degree 1 -damping 0.5 -iterations 7"},
	}
	for program, each := range inputs {
		peer := filepath.Join(bin, "peer-"+program)
		runCommand(t, "oshcc", "-O2", "-o", peer, "../tests/peers/"+program+".c", "-lm")
		for _, flags := range each {
			for _, npes := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s %s, %d PEs", program, filepath.Base(flags), npes), func(t *testing.T) {
					n, args := strconv.Itoa(npes), strings.Fields(flags)
					ours := runLine(t, append([]string{filepath.Join(bin, "pgasrun"), "-n", n, filepath.Join(bin, program), "-json"}, args...))
					theirs := runLine(t, append([]string{"oshrun", "--allow-run-as-root", "--oversubscribe", "--mca", "osc", "^rdma",
						"--mca", "mpi_yield_when_idle", "1", "-np", n, peer}, args...))
					if ours.computed() != theirs.computed() {
						t.Errorf("ours has computed %q, and the program in C %q", ours.computed(), theirs.computed())
					}
				})
			}
		}
	}
}

func runCommand(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &stderr)
	}
	return out
}

// runLine runs a program that prints one line of JSON.
func runLine(t *testing.T, argv []string) (l line) {
	t.Helper()
	out := runCommand(t, argv[0], argv[1:]...)
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatalf("%s printed %q: %v", strings.Join(argv, " "), out, err)
	}
	return l
}
