package mistakes

// A user, with the commands and a project, who makes mistakes and reads what is printed.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/tests/built"
)

type user struct {
	root, bin string
	env       []string
	page      *document
	program   string // of all mistakes that run
}

func newUser(t *testing.T, p *document) *user {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	env, err := built.Environ()
	if err != nil {
		t.Fatal(err)
	}
	u := &user{root: root, bin: t.TempDir(), page: p}
	u.env = append(append(os.Environ(), env...), "PATH="+u.bin+":"+os.Getenv("PATH"), "HOME="+u.bin, "PGAS_HEAP_MAX=16m", "PGAS_QUIET_SINGLETON=1", "GOWORK=off")
	if err := built.Commands(root, u.bin); err != nil {
		t.Fatal(err)
	}
	u.must(t, root, "go", "build", "-o", u.bin+"/", "./cmd/pgasvet")
	dir := u.project(t)
	if err := writeProgram(dir, p); err != nil {
		t.Fatal(err)
	}
	u.must(t, dir, "pgasgen")
	u.must(t, dir, "go", "build", "-o", "program", ".")
	u.program = filepath.Join(dir, "program")
	return u
}

// project makes a project with the records of the page, and their accessors.
func (u *user) project(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mistakes")
	u.must(t, u.root, "pgasgen", "init", "-replace", u.root, dir)
	starter, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range starter {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "cell.go", u.page.cell)
	u.must(t, dir, "pgasgen")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (u *user) must(t *testing.T, dir string, argv ...string) {
	t.Helper()
	if out, err := u.run(t, dir, nil, argv...); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// run runs a command and returns all that it prints.
func (u *user) run(t *testing.T, dir string, env []string, argv ...string) (string, error) {
	t.Helper()
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	if own := filepath.Join(u.bin, argv[0]); exists(own) {
		argv[0] = own
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(u.env, env...), 5*time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// make makes a mistake, and returns what is printed.
func (u *user) make(t *testing.T, m *mistake) string {
	t.Helper()
	switch {
	case m.is("generate"):
		dir := u.project(t)
		write(t, dir, "cell.go", m.source)
		return u.fails(t, dir, nil, "pgasgen")
	case m.is("again"):
		dir := u.project(t)
		write(t, dir, "cell.go", m.source)
		out, err := u.run(t, dir, nil, "pgasgen")
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return u.shown(dir, out)
	case m.is("build"):
		dir := u.project(t)
		write(t, dir, m.file(), m.source)
		if m.file() != "cell.go" {
			write(t, dir, "main.go", "package main\n\nfunc main() {}\n")
		}
		return u.fails(t, dir, nil, "go", "build", "-o", "program", ".")
	case m.is("tags"):
		dir := u.project(t)
		write(t, dir, m.file(), m.source)
		write(t, dir, "main.go", allocates)
		u.must(t, dir, "go", "build", "-o", "program", ".")
		return u.fails(t, dir, nil, "pgasrun", "-n", "1", filepath.Join(dir, "program"))
	case m.is("vet"):
		dir := u.project(t)
		write(t, dir, "mistake.go", m.source)
		return u.fails(t, dir, nil, "pgasvet", ".")
	case m.is("race"):
		dir := u.project(t)
		write(t, dir, "mistake_test.go", m.source)
		// Many times, since a race may happen to be ordered: one PE's last accesses are released before the other
		// begins.
		return excerpt(u.fails(t, dir, nil, "go", "test", "-race", "-count=50", "-failfast", "."))
	}
	return u.runs(t, m)
}

// allocates is a program that uses the records.
const allocates = `package main

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		_, err := AllocCell(ctx, w, 1)
		return err
	})
}
`

// file is the name of the source.
func (m *mistake) file() string {
	if m.is("cell.go") {
		return "cell.go"
	}
	return "mistake.go"
}

// runs runs the program with the mistake, on two PEs if the mistake does not say otherwise.
func (u *user) runs(t *testing.T, m *mistake) string {
	t.Helper()
	pes, env, flags := "2", []string(nil), []string(nil)
	for _, word := range m.how {
		_, err := strconv.Atoi(word)
		switch {
		case err == nil:
			pes = word
		case strings.HasPrefix(word, "-"):
			flags = append(flags, strings.Split(word, "=")...)
		case strings.HasPrefix(word, "PGAS_"):
			env = append(env, word)
		}
	}
	argv := append([]string{"pgasrun", "-n", pes, "-timeout", "1m"}, flags...) // the last -timeout holds
	if m.is("alone") {
		argv = nil
		env = append(env, "PGAS_QUIET_SINGLETON=0")
	}
	dir := t.TempDir()
	argv = append(argv, u.program, strconv.Itoa(u.page.index(m)))
	if m.is("passes") {
		out, err := u.run(t, dir, env, argv...)
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return u.shown(dir, out)
	}
	return u.fails(t, dir, env, argv...)
}

func (p *document) index(m *mistake) int {
	for i := range p.mistakes {
		if &p.mistakes[i] == m {
			return i
		}
	}
	return -1
}

// fails runs a command that must fail, and returns what it prints.
func (u *user) fails(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	out, err := u.run(t, dir, env, argv...)
	if err == nil {
		t.Errorf("%s does not fail; it prints\n%s", strings.Join(argv, " "), out)
	}
	return u.shown(dir, out)
}

// shown returns of a text what is shown: not what is of this machine (the name of the host, and directories), not the
// lines of other PEs that follow from the mistake, which may come or not, not what pgasrun repeats, and of stacks only
// the user's frames.
func (u *user) shown(dir, out string) string {
	host, _ := os.Hostname()
	out = strings.ReplaceAll(out, filepath.Dir(u.program)+"/", "")
	out = strings.ReplaceAll(out, dir+"/", "")
	out = regexp.MustCompile(`\b(`+regexp.QuoteMeta(host)+`|localhost)\b`).ReplaceAllString(out, "host")
	out = ownFrame.ReplaceAllString(out, "")
	out = regexp.MustCompile(`\bmain\.body\d+`).ReplaceAllString(out, "main.body")
	out = summary.ReplaceAllString(out, "")
	return consequence.ReplaceAllString(out, "")
}

var (
	ownFrame    = regexp.MustCompile(`(?m)^(github\.com/gopgas/gopgas/|panic\(|main\.main|created by main).*\n\t.*\n`)
	summary     = regexp.MustCompile(`(?m)^pgasrun: PE \d+ on host .*\n(  .*\n)*`)
	consequence = regexp.MustCompile(`(?m)^pgas: PE \d+ on .*: PE \d+ on host \S+: .*\n`)
)

var (
	access = regexp.MustCompile(`^(Previous )?(\w+ )?([Rr]ead|[Ww]rite) at `)
	place  = regexp.MustCompile(`mistake_test\.go:\d+`)
)

// excerpt keeps of a report of the race detector where the user's file makes the two accesses. Which of them it calls
// the previous one differs from run to run.
func excerpt(out string) string {
	var places []string
	wanted := false
	for line := range strings.Lines(out) {
		if access.MatchString(line) {
			wanted = true
		}
		if at := place.FindString(line); at != "" && wanted && len(places) < 2 {
			places, wanted = append(places, "  "+at+"\n"), false
		}
	}
	if len(places) == 0 {
		return out
	}
	slices.Sort(places)
	return "WARNING: DATA RACE\n" + strings.Join(places, "")
}
