// Mutants tries every planted bug of the repository, prints which tests caught which, and records that in
// docs/internals/mutants.md:
//
//	go run ./tests/mutants                 all of them, an hour or two: at least once a week
//	go run ./tests/mutants -only ./locks   those of one package: ./pgas/internal/locklocal, ./pgas/internal/coll,
//	                                       ./pgas/sim, ./locks, ./locks/model, ./dsm, ./dsm/model, ./dsm/pager,
//	                                       ./ckpt, ./ckpt/model or ./pgas/boot/launch/model
//
// Each package has a section of its own in the record, with the day and the commit of its last run.
//
// It runs the tests that plant bugs, and reads their output. A test that plants a bug logs "caught by" and the
// finder, and fails if there is none. The exit status is 1 if a bug was missed or another of these tests failed.
// The ordinary tests try a few planted bugs without this program.
//
//ci:computes
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// record is the file with the table.
const record = "docs/internals/mutants.md"

// A suite is a package's tests that plant bugs.
type suite struct {
	pkg, run string
	long     bool // the package has the flag -long
}

var suites = []suite{
	{"./pgas/internal/locklocal", "^TestLockEveryOrder$", false},
	{"./pgas/internal/coll", "^Test(JointEveryOrder|JointMutants|StagedLinearMutants)$", true},
	{"./pgas/sim", "^Test(Explore|Adversary)$", false},
	{"./locks", "Mutants$", true},
	{"./locks/model", ".", false},
	{"./containers", "Mutants$", true},
	{"./containers/model", ".", false},
	{"./dsm", "^TestMutants$", true},
	{"./dsm/model", ".", false},
	{"./dsm/pager", "^TestMutants$", true},
	{"./ckpt", "^TestMutants$", true},
	{"./ckpt/model", "Mutants$", false},
	{"./pgas/boot/launch/model", "Mutants$", false},
}

// A row of the table is a planted bug.
type row struct {
	pkg, name, by string
	caught        bool
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

func main() {
	only := flag.String("only", "", "only the planted bugs of this `package`, as in ./locks")
	flag.Parse()
	if err := tryAll(*only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// tryAll runs the suites, or the one of package only. The error lists missed bugs and tests that did not run.
func tryAll(only string) (err error) {
	known := false
	for _, s := range suites {
		if only != "" && only != s.pkg {
			continue
		}
		known = true
		rows, failed := s.try()
		section := s.section(rows)
		fmt.Print(section)
		switch {
		case failed != nil:
			failed = fmt.Errorf("go test %s -run '%s': %w", s.pkg, s.run, failed)
		case len(rows) == 0:
			failed = fmt.Errorf("the tests '%s' of %s planted nothing: were they skipped?", s.run, s.pkg)
		}
		err = errors.Join(err, failed, write(s.pkg, section))
	}
	if !known {
		return fmt.Errorf("no bugs are planted in %s: -h lists the packages", only)
	}
	return err
}

func (s suite) try() ([]row, error) {
	args := []string{"test", "-json", "-count=1", "-timeout=0", "-run", s.run, s.pkg}
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

// read makes the rows from the output of the tests. A test may log several bugs; a failed test without a failed
// subtest has missed one.
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

// section returns a suite's section of the record.
func (s suite) section(rows []row) string {
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\nRun on %s, of commit %s.\n\n", heading, s.pkg, time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)))
	fmt.Fprintln(&b, "| planted bug | | by |\n|---|---|---|")
	missed := 0
	for _, r := range rows {
		verdict := "caught"
		if !r.caught {
			verdict = "**missed**"
			missed++
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.name), verdict, cell(r.by))
	}
	fmt.Fprintf(&b, "\n%d planted bugs, %d missed.\n", len(rows), missed)
	return b.String()
}

// cell quotes s for a cell of a Markdown table.
func cell(s string) string { return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(s) + "`" }

const (
	title   = "# Planted bugs\n\nWritten by `go run ./tests/mutants`, which is to be run at least once a week.\n"
	heading = "## "
)

// write puts a section into the record, in place of the package's earlier one.
func write(pkg, section string) error {
	old, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(record, []byte(replaced(string(old), pkg, section)), 0o644)
}

func replaced(old, pkg, section string) string {
	sections := map[string]string{}
	for _, text := range strings.Split(old, "\n"+heading)[1:] {
		name, _, _ := strings.Cut(text, "\n")
		sections[name] = heading + strings.TrimSuffix(text, "\n") + "\n"
	}
	sections[pkg] = section
	text := title
	for _, s := range suites {
		if sections[s.pkg] != "" {
			text += "\n" + sections[s.pkg]
		}
	}
	return text
}
