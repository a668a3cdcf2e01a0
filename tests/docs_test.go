package tests

// The documentation is executed: the tutorial from its first block to its last, and the program of the
// README. A fenced block is a step by its language: sh is run, text is what the block before it must
// have printed, and go with a file name is written to that file. A block of the language sh that needs hosts of network
// namespaces has the word root behind it; where there can be none it is skipped, and what it would print. Links must
// lead somewhere, and the index must name every package.

import (
	"bytes"
	"fmt"
	"io/fs"
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
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/tests/built"
	"github.com/gopgas/gopgas/tests/pages"
)

func blocksOf(t *testing.T, page string) []pages.Block {
	t.Helper()
	blocks, err := pages.Blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// A shell runs blocks one after the other. Directory and environment go from each to the next.
type shell struct {
	t     *testing.T
	page  string
	state string // file with what the next block starts with
	env   []string
	dir   string
	out   string // of the last block

	skipped error // why that block was
}

// standIns are commands that a machine of tests cannot have. The hosts alpha and beta are this one,
// so there is nothing to copy.
var standIns = map[string]string{
	"ssh": `#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift 2; done
shift
exec "$@"
`,
	"scp": `#!/bin/sh
exit 0
`,
}

func newShell(t *testing.T, page string) *shell {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	env, err := built.Environ()
	if err != nil {
		t.Fatal(err)
	}
	home, bin := t.TempDir(), t.TempDir()
	for name, text := range standIns {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := built.Commands(root, bin); err != nil {
		t.Fatal(err)
	}
	env = append(env, "HOME="+home, "GOPATH="+home+"/go", "GOBIN=", "PGAS_HEAP_MAX=64m", "PATH="+bin+":"+os.Getenv("PATH"))
	return &shell{t: t, page: page, state: filepath.Join(t.TempDir(), "state"), env: append(os.Environ(), env...), dir: root}
}

func (s *shell) run(b pages.Block) {
	s.t.Helper()
	ctx, cancel := hang.Context(s.t.Context())
	defer cancel()
	script := fmt.Sprintf("set -euo pipefail\n%s\npwd > %s; echo \"$PATH\" >> %[2]s", b.Text, s.state)
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, 5*time.Second
	var out, all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &all
	err := cmd.Run()
	if s.out = out.String(); err != nil {
		s.t.Fatalf("%s:%d: %v\n%s%s", s.page, b.Line, err, s.out, &all)
	}
	state, err := os.ReadFile(s.state)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(string(state), "\n")
	s.dir, s.env = lines[0], append(s.env, "PATH="+lines[1])
}

func (s *shell) step(b pages.Block) {
	s.t.Helper()
	switch {
	case b.Language == "sh":
		s.skipped = nil
		if b.File == "root" {
			s.skipped = netns.Usable()
		}
		if s.skipped != nil {
			s.t.Logf("%s:%d: skipped: %v", s.page, b.Line, s.skipped)
			return
		}
		s.run(b)
	case b.Language == "text" && s.skipped != nil:
	case b.Language == "text":
		if s.out != b.Text {
			s.t.Errorf("%s:%d: the page says\n%sbut the block before it prints\n%s", s.page, b.Line, b.Text, s.out)
		}
	case b.Language == "go" && b.File != "":
		if err := os.WriteFile(filepath.Join(s.dir, b.File), []byte(b.Text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	default:
		s.t.Errorf("%s:%d: no test would notice if this block were wrong: give it the language sh or text, or go and a file name", s.page, b.Line)
	}
}

func withCgo(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Skip("the race detector and several hosts need cgo")
	}
}

func TestTutorial(t *testing.T) { follow(t, "../docs/learn/tutorial.md") }

func TestSurvivePage(t *testing.T) {
	withCgo(t)
	s := newShell(t, "../docs/use/survive.md")
	s.run(pages.Block{Text: "pgasgen init -empty -module example.com/heat -replace . ~/heat; cd ~/heat"})
	for _, b := range blocksOf(t, s.page) {
		if b.Language != "" { // others show commands of a cluster
			s.step(b)
		}
	}
	s.run(pages.Block{Text: "go vet .; test -z \"$(gofmt -l . | tee /dev/stderr)\""})
}

func TestTutorialOfCoherentMemory(t *testing.T) { follow(t, "../docs/learn/tutorial-dsm.md") }

// follow executes a page, from its first block to its last.
func follow(t *testing.T, page string) {
	withCgo(t)
	s := newShell(t, page)
	for _, b := range blocksOf(t, s.page) {
		s.step(b)
	}
	formatted := exec.Command("gofmt", "-l", ".")
	formatted.Dir = s.dir
	if out, err := formatted.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("not formatted: %s %v", out, err)
	}
}

// TestReadmeProgram makes the project of the README in a checkout, pastes its program and runs it. tests/release does
// so with a release.
func TestReadmeProgram(t *testing.T) {
	s := newShell(t, "../README.md")
	var program pages.Block // it stands before the block that makes its project
	for _, b := range blocksOf(t, s.page) {
		switch {
		case b.Section != "A program" || strings.Contains(b.Text, "@latest"):
		case b.Language == "go":
			program = b
		default:
			s.step(b)
			if strings.Contains(b.Text, "pgasgen init") {
				s.step(program)
			}
		}
	}
	s.run(pages.Block{Text: "go vet .; go tool pgasgen -check .; test -z \"$(gofmt -l .)\"; go mod tidy -diff"})
}

// TestProgramsOfPages runs the programs of pages that are not run as a whole, in a project of their own: those with a
// file name.
func TestProgramsOfPages(t *testing.T) {
	for page, try := range map[string]string{
		"../docs/packages/containers.md": "pgasrun -n 4 .",
		"../docs/packages/pgas.md":       "pgasrun -n 2 .",
		"../docs/use/pgastest.md":        "go test -bench . -benchtime 10x . >&2",
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			s := newShell(t, page)
			s.run(pages.Block{Text: "pgasgen init -empty -module example.com/example -replace . ~/example; cd ~/example"})
			programs := 0
			for _, b := range blocksOf(t, page) {
				switch {
				case b.Language == "go" && b.File != "":
					programs++
					s.step(b)
					s.run(pages.Block{Line: b.Line, Text: "go vet .; " + try + "\ntest -z \"$(gofmt -l . | tee /dev/stderr)\""})
				case b.Language == "text":
					s.step(b)
				}
			}
			if programs == 0 {
				t.Errorf("%s has no program", page)
			}
		})
	}
}

// TestReadmeCommands: the README has two commands to try, and CI runs exactly those.
func TestReadmeCommands(t *testing.T) {
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, b := range blocksOf(t, "../README.md") {
		if b.Language == "sh" && b.Section == "Try it" {
			commands = append(commands, strings.Fields(b.Text)...)
		}
	}
	var run []string
	for line := range strings.Lines(string(ci)) {
		if strings.HasPrefix(line, "./") {
			run = append(run, strings.TrimSpace(line))
		}
	}
	if len(commands) != 2 || strings.Join(commands, " ") != strings.Join(run, " ") {
		t.Errorf("the README has the commands %q, and .ci/run runs %q", commands, run)
	}
}

var (
	link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// pagesOf returns all pages of docs, the README and CONTRIBUTING.
func pagesOf(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../docs/*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages below docs: %v", err)
	}
	return append(pages, "../docs/index.md", "../README.md", "../CONTRIBUTING.md")
}

func TestLinks(t *testing.T) {
	for _, page := range append(pagesOf(t), "../CHANGELOG.md", "../THIRD_PARTY_LICENSES.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(content), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// TestIndexLinksEveryPage: docs/index.md fits on a screen, and from there every page is one step away.
func TestIndexLinksEveryPage(t *testing.T) {
	index, err := os.ReadFile("../docs/index.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(index), "\n"); n > 40 {
		t.Errorf("docs/index.md has %d lines, more than 40: give a page its row in the folder's own page", n)
	}
	for _, page := range pagesOf(t) {
		name, below := strings.CutPrefix(page, "../docs/")
		if below && name != "index.md" && !strings.Contains(string(index), "]("+name) {
			t.Errorf("docs/index.md does not link to %s: say which question it answers", name)
		}
	}
}

// TestIndexNamesEveryPackage: docs/index.md names the folders of each floor, and docs/internals/packages.md each
// package under the heading of its floor.
func TestIndexNamesEveryPackage(t *testing.T) {
	index, err := os.ReadFile("../docs/index.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/internals/packages.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(string(page), "\n## Floor ")[1:] {
		floor, text, _ := strings.Cut(section, "\n")
		sections[floor] = text
	}
	for _, p := range list(t, module+"/...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		folder, _ := floorOf(name)
		floor := strconv.Itoa(floors[folder])
		if !strings.Contains(sections[floor], "`"+name+"`") {
			t.Errorf("docs/internals/packages.md does not name the package %s under Floor %s", name, floor)
		}
		if !strings.Contains(floorRow(string(index), floor), "`"+folder+"`") {
			t.Errorf("docs/index.md does not name %s in the row of floor %s", folder, floor)
		}
	}
}

// floorRow returns the row of a floor in the index's table of floors.
func floorRow(index, floor string) string {
	_, after, _ := strings.Cut(index, "| ["+floor+"](internals/packages.md#floor-"+floor+") |")
	row, _, _ := strings.Cut(after, "\n")
	return row
}

// paragraphWords is the greatest number of words of a paragraph.
const paragraphWords = 120

// TestParagraphs: a paragraph of a page has at most paragraphWords words. An item of a list is a paragraph of its own.
func TestParagraphs(t *testing.T) {
	for _, page := range pagesOf(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages.Paragraphs(string(content)) {
			if n := len(strings.Fields(p.Text)); n > paragraphWords {
				t.Errorf("%s:%d: a paragraph of %d words: split it, %d are the limit", page, p.Line, n, paragraphWords)
			}
		}
	}
}

// TestSentences: a sentence of a page says one thing. Two of "that", "which", "of it" and "of them" in one sentence are
// one too many: the sentence is split, and the noun repeated.
func TestSentences(t *testing.T) {
	for _, page := range pagesOf(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range pages.Sentences(string(content)) {
			if s.Chained() {
				t.Errorf("%s:%d: split it, and repeat the noun: %s", page, s.Line, s.Text)
			}
		}
	}
}

// inRule is the name of a test in brackets, and something behind it that is not in brackets as well.
var inRule = regexp.MustCompile("\\([^()]*`(?:[\\w/]+\\.)?(?:Test|Benchmark|Fuzz)[A-Z][^()]*\\)[.,:;]?\\s+[^(\\s]")

// TestNamesOfTestsEndParagraphs: a page says a rule without interruption, and behind it which tests hold it.
func TestNamesOfTestsEndParagraphs(t *testing.T) {
	for _, page := range pagesOf(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages.Paragraphs(string(content)) {
			for _, found := range inRule.FindAllString(p.Text, -1) {
				t.Errorf("%s:%d: move the names to the end of the paragraph: %s", page, p.Line, found)
			}
		}
	}
}

// TestPackageDocsListFiles: a package comment that has a table of files leaves no file out, and names none that does
// not exist. Generated files need not stand there.
func TestPackageDocsListFiles(t *testing.T) {
	tables := 0
	err := filepath.WalkDir("..", func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if e.Name() == "testdata" || e.Name() == ".git" {
			return fs.SkipDir
		}
		listed, problems := fileTable(dir)
		if listed {
			tables++
		}
		for _, problem := range problems {
			t.Error(problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tables < 30 {
		t.Errorf("%d packages have a table of files: the test no longer finds them", tables)
	}
}

var (
	rowOfFiles  = regexp.MustCompile(`(?m)^//\t.*\w\.go\b`)
	packageLine = regexp.MustCompile(`(?m)^package \w+$`)
	fileName    = regexp.MustCompile(`[\w*]+\.go\b`)
)

// fileTable reports whether the comment of the package in dir has a table of files, and what is wrong with it.
func fileTable(dir string) (listed bool, problems []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return listed, []string{err.Error()}
		}
		end := packageLine.FindIndex(content)
		if end == nil || len(rowOfFiles.FindAll(content[:end[0]], -1)) < 2 {
			continue
		}
		listed = true
		names := fileName.FindAllString(string(content[:end[0]]), -1)
		names = append(names, filepath.Base(file), "*_pgas.go")
		problems = append(problems, compareTable(file, files, names)...)
	}
	return listed, problems
}

// compareTable compares the files of a package with the names in the comment of file. A name may be a pattern.
func compareTable(file string, files, names []string) (problems []string) {
	used := map[string]bool{"*_pgas.go": true}
	for _, f := range files {
		found := false
		for _, name := range names {
			if ok, err := filepath.Match(name, filepath.Base(f)); ok && err == nil {
				found, used[name] = true, true
			}
		}
		if !found {
			problems = append(problems, fmt.Sprintf("the table of files in %s leaves out %s", file, filepath.Base(f)))
		}
	}
	for _, name := range names {
		if !used[name] {
			problems = append(problems, fmt.Sprintf("%s names %s, which does not exist", file, name))
		}
	}
	return problems
}
