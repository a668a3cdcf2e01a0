package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

var (
	expected = regexp.MustCompile(`found: ?(\w+)`)
	reported = regexp.MustCompile(`^(?:vet: )?\S*?(\w+\.go):(\d+):\d+: (.*)$`)
)

// TestFindings: the program finds faults of each kind under go vet, and comments silence those of staticcheck.
func TestFindings(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "lint")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("go", "vet", "-vettool="+tool, "./planted").CombinedOutput()
	if err == nil {
		t.Error("it finds nothing")
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if m := reported.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			got = append(got, m[1]+":"+m[2]+": "+kind(m[3]))
		}
	}
	slices.Sort(got)
	if want := wanted(t, "planted/planted.go"); len(want) != 7 || !slices.Equal(got, want) {
		t.Errorf("found\n\t%s\nwant\n\t%s\nfrom\n%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"), out)
	}
}

// wanted returns the findings that the comments of a file announce.
func wanted(t *testing.T, path string) (want []string) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if m := expected.FindStringSubmatch(lines.Text()); m != nil {
			want = append(want, filepath.Base(path)+":"+strconv.Itoa(n)+": "+m[1])
		}
	}
	slices.Sort(want)
	return want
}

// kind names the analyzer of a message: go vet prints no names.
func kind(message string) string {
	of := regexp.MustCompile(`\(([SU]\w*\d+)\)$`).FindStringSubmatch(message)
	switch {
	case of != nil:
		return of[1]
	case strings.HasPrefix(message, "//lint:"):
		return "lintcomments"
	case strings.Contains(message, "passes lock by value"):
		return "copylocks"
	case strings.Contains(message, "Barrier"):
		return "droppederror"
	}
	return message
}

// TestListOfVet: the analyzers are those of this go vet.
func TestListOfVet(t *testing.T) {
	out, err := exec.Command("go", "tool", "vet", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(out), "Registered analyzers:")
	list, _, _ = strings.Cut(list, "By default")
	var want []string
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 1 {
			want = append(want, words[0])
		}
	}
	if got := names(ofVet); len(want) < 30 || !slices.Equal(got, want) {
		t.Errorf("vet.go lists\n%v\nand go vet has\n%v", got, want)
	}
}

// TestListOfStaticcheck: the analyzers are those that the command staticcheck runs by default, U1000 and the one about
// comments that silence.
func TestListOfStaticcheck(t *testing.T) {
	want := []string{"lintcomments", "unused"}
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers) {
		if !a.Doc.NonDefault {
			want = append(want, a.Analyzer.Name)
		}
	}
	slices.Sort(want)
	if got := names(ofStaticcheck()); len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if err := analysis.Validate(slices.Concat(ofVet, rules.All(), ofStaticcheck())); err != nil {
		t.Error(err)
	}
}

func names(of []*analysis.Analyzer) (found []string) {
	for _, a := range of {
		found = append(found, a.Name)
	}
	slices.Sort(found)
	return found
}
