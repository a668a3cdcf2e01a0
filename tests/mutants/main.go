// Mutants tries every planted bug of the repository, prints which were caught and by what, and writes that down in
// docs/mutants.md:
//
//	go run ./tests/mutants               all of them, an hour or two: at least once a week
//	go run ./tests/mutants -only locks   those of the packages whose path contains that; writes nothing down
//
// It runs the tests that plant bugs, and reads what they say. A test that plants a bug logs "caught by" and what
// has found it, and fails if nothing has. The exit status is 1 if a bug was missed, or if a test of them failed.
// The tests of every day try a few of them, without this.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// record is where the table is written.
const record = "docs/mutants.md"

// A suite is tests that plant bugs.
type suite struct {
	pkg, run string
	long     bool // the package has the flag -long
}

var suites = []suite{
	{"./pgas", "^TestLockEveryOrder$", false},
	{"./pgas/sim", "^Test(Explore|Adversary)$", false},
	{"./locks/model", ".", false},
	{"./locks", "Mutants$", true},
}

// A row of the table is a planted bug.
type row struct {
	pkg, name, by string
	caught        bool
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

func main() {
	only := flag.String("only", "", "only packages whose path contains this; nothing is written down")
	flag.Parse()
	rows, err := tryAll(*only)
	print(os.Stdout, rows)
	if err == nil && *only == "" {
		err = write(rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// tryAll runs the suites. The error says what was missed or did not run.
func tryAll(only string) (rows []row, err error) {
	for _, s := range suites {
		if !strings.Contains(s.pkg, only) {
			continue
		}
		more, failed := s.try()
		rows = append(rows, more...)
		switch {
		case err != nil:
		case failed != nil:
			err = fmt.Errorf("go test %s -run '%s': %w", s.pkg, s.run, failed)
		case len(more) == 0:
			err = fmt.Errorf("the tests '%s' of %s planted nothing: were they skipped?", s.run, s.pkg)
		}
	}
	return rows, err
}

func (s suite) try() ([]row, error) {
	args := []string{"test", "-json", "-count=1", "-timeout", "3h", "-run", s.run, s.pkg}
	if s.long {
		args = append(args, "-long")
	}
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	rows, err := read(out)
	if failed := cmd.Wait(); failed != nil {
		return rows, failed
	}
	return rows, err
}

// read makes the rows from what the tests say. A test may log several bugs; one that fails and contains no other
// test that failed has missed one.
func read(out io.Reader) (rows []row, err error) {
	inner := map[string]bool{} // tests that contain one that failed
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the compiler's
		}
		if _, by, ok := strings.Cut(e.Output, "caught by "); ok && e.Action == "output" {
			rows = append(rows, row{e.Package, e.Test, strings.TrimSpace(by), true})
		}
		if e.Action == "fail" && e.Test != "" {
			if !inner[e.Test] {
				rows = append(rows, row{e.Package, e.Test, "nothing", false})
			}
			for name := e.Test; strings.Contains(name, "/"); {
				name = name[:strings.LastIndex(name, "/")]
				inner[name] = true
			}
		}
	}
	return rows, lines.Err()
}

func print(w io.Writer, rows []row) {
	fmt.Fprintln(w, "| package | planted bug | | by |\n|---|---|---|---|")
	missed := 0
	for _, r := range rows {
		verdict := "caught"
		if !r.caught {
			verdict = "**missed**"
			missed++
		}
		pkg := strings.TrimPrefix(r.pkg, "github.com/gopgas/gopgas/")
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", pkg, cell(r.name), verdict, cell(r.by))
	}
	fmt.Fprintf(w, "\n%d planted bugs, %d missed.\n", len(rows), missed)
}

// cell keeps s in its cell.
func cell(s string) string { return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(s) + "`" }

func write(rows []row) error {
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return fmt.Errorf("which commit this is: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Planted bugs\n\nWritten by `go run ./tests/mutants`, which tries them all and is to be run at least once a week. Last run on %s, of commit %s.\n\n",
		time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)))
	print(&b, rows)
	return os.WriteFile(record, []byte(b.String()), 0o644)
}
