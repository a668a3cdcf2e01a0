package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

func TestFuzzTargets(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"p/p_test.go":          "package p\n\nfunc FuzzA(f *testing.F) {}\n\nfunc FuzzB(t *testing.F) {\n}\n",
		"p/p.go":               "package p\n\nfunc FuzzNot(f *testing.F) {}\n",
		"p/testdata/x_test.go": "package x\n\nfunc FuzzNeither(f *testing.F) {}\n",
		"q/r/s_test.go":        "package r\n\n// func FuzzComment(f *testing.F) {}\nfunc FuzzC(f *testing.F) {}\nconst text = `\nfunc FuzzText(f *testing.F) {}\n`\nfunc TestFuzz(t *testing.T) {}\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []target{{"./p", "FuzzA"}, {"./p", "FuzzB"}, {"./q/r", "FuzzC"}}
	if got, err := fuzzTargets(root); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("targets are %v, want %v (%v)", got, want, err)
	}
}

// TestFuzz: each target of a package runs, from one binary, and an input that fails is kept with the package.
func TestFuzz(t *testing.T) {
	moduleOf(t, `func FuzzA(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }

func FuzzB(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {
		if n != 1 && os.Getenv("WRONG") != "" {
			t.Error("it is not 1")
		}
	})
}
`)
	if err := fuzz(t.Context()); err != nil {
		t.Errorf("targets that pass: %v", err)
	}
	t.Setenv("WRONG", "1")
	if err := fuzz(t.Context()); err == nil || !strings.Contains(err.Error(), "FuzzB of ./p") || strings.Contains(err.Error(), "FuzzA") {
		t.Errorf("a target that fails: %v", err)
	}
	if inputs, err := filepath.Glob("p/testdata/fuzz/FuzzB/*"); len(inputs) != 1 {
		t.Errorf("the inputs that fail are %v (%v)", inputs, err)
	}
}

// TestSeedsOf: three adversaries a day, all ten in four days; all with -long.
func TestSeedsOf(t *testing.T) {
	begin := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for day := range 4 {
		env := seedsOf(t.Context(), begin.AddDate(0, 0, day))
		seeds := strings.Split(strings.TrimPrefix(env[0], "TEST_ADVERSARIES="), ",")
		if slices.Sort(seeds); len(slices.Compact(seeds)) != 3 {
			t.Errorf("day %d has %s", day, env)
		}
		for _, seed := range seeds {
			seen[seed] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("four days have the seeds %v", seen)
	}
	if env := seedsOf(context.WithValue(t.Context(), longKey{}, true), begin); env != nil {
		t.Errorf("-long has %s", env)
	}
}

// TestTurn: each thing has its turn once in so many days, and no day is without.
func TestTurn(t *testing.T) {
	begin := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, all := range [][]int{{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}} {
		turns := map[int]int{}
		for day := range few {
			today := turnAt(t.Context(), all, few, begin.AddDate(0, 0, day))
			if len(today) == 0 || len(today) > len(all)/few+1 {
				t.Errorf("of %v day %d has %v", all, day, today)
			}
			for _, i := range today {
				turns[i]++
			}
		}
		for _, i := range all {
			if turns[i] == 0 || len(all) >= few && turns[i] != 1 {
				t.Errorf("of %v, %d has %d turns in %d days", all, i, turns[i], few)
			}
		}
	}
	if none := turnAt(t.Context(), []int{}, few, begin); len(none) > 0 {
		t.Errorf("of nothing %v", none)
	}
}

// TestWeekly: each weekly test runs on one day of seven, and with -long; no other test has a weekly one's name, as the
// step compute leaves out tests by name.
func TestWeekly(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	weekly, err := weeklyTests(".")
	if err != nil || len(weekly) < 20 {
		t.Fatalf("%d weekly tests, %v", len(weekly), err)
	}
	begin := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	runs := map[target]int{}
	for day := range 7 {
		today := turnAt(t.Context(), weekly, week, begin.AddDate(0, 0, day))
		for _, test := range today {
			runs[test]++
		}
		if len(today) > len(weekly)/7+1 {
			t.Errorf("day %d has %d of %d tests", day, len(today), len(weekly))
		}
	}
	for _, test := range weekly {
		if runs[test] != 1 {
			t.Errorf("%s of %s runs %d times in seven days", test.name, test.pkg, runs[test])
		}
	}
	if all := turnAt(context.WithValue(t.Context(), longKey{}, true), weekly, week, begin); len(all) != len(weekly) {
		t.Errorf("-long runs %d of %d", len(all), len(weekly))
	}
	computing, err := having(t.Context(), with("computes"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := functions(".", anyTest)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		computes := regexp.MustCompile("^"+computed+"$").MatchString(test.name) ||
			slices.ContainsFunc(computing, func(p string) bool { return strings.HasSuffix(p, strings.TrimPrefix(test.pkg, ".")) })
		if slices.Contains(namesOf(weekly), test.name) && computes != slices.Contains(weekly, test) {
			t.Errorf("%s of %s: it has a weekly test's name, and is not weekly, or is weekly and does not compute", test.name, test.pkg)
		}
	}
}

// TestWithoutCIsComplete: the step nocgo tests every package that has a file for builds with C, or without it.
func TestWithoutCIsComplete(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	files, err := goFiles(".")
	if err != nil {
		t.Fatal(err)
	}
	tested, err := having(t.Context(), with("nocgo=whole", "nocgo=short"))
	if err != nil {
		t.Fatal(err)
	}
	depends := regexp.MustCompile(`(?m)^//go:build .*\bcgo\b|^import "C"$`)
	found := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if !depends.Match(text) || dir == "tests/stranger" { // which attacks UCX, and is empty without
			continue
		}
		found++
		if !slices.ContainsFunc(tested, func(p string) bool { return strings.HasSuffix(p, "/"+dir) }) {
			t.Errorf("%s depends on C, and %s has no attribute nocgo: see tests/ci/attributes.go", path, dir)
		}
	}
	if found < 20 {
		t.Errorf("%d files depend on C: the expression is wrong", found)
	}
}

// TestNotSimulated: the go command leaves out the tests that compute and what runs in the simulator, and nothing else.
func TestNotSimulated(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m_test.go": `package m

import "testing"

// Indented, as this file itself has no such tests.
	func TestPlantedMutants(t *testing.T) { t.Run("of a queue", func(*testing.T) {}) }
	func TestExploredToo(t *testing.T) {}
	func TestGrowthSimulated(t *testing.T) {}
func TestPut(t *testing.T) {
	for _, kind := range []string{"goroutines", "sim", "simple"} {
		t.Run(kind, func(*testing.T) {})
		t.Run("large", func(t *testing.T) { t.Run(kind, func(*testing.T) {}) })
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-v", notSimulated, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	var ran []string
	for _, m := range regexp.MustCompile(`(?m)^=== RUN   (.*)$`).FindAllStringSubmatch(string(out), -1) {
		ran = append(ran, m[1])
	}
	want := []string{"TestExploredToo", "TestPut",
		"TestPut/goroutines", "TestPut/large", "TestPut/large/goroutines",
		"TestPut/large#01",
		"TestPut/simple", "TestPut/large#02", "TestPut/large#02/simple"}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}

func TestChoose(t *testing.T) {
	for only, want := range map[string]string{"vet": "vet", "test,gofmt": "gofmt test"} { // in their own order
		chosen, err := choose(steps, only)
		var names []string
		for _, s := range chosen {
			names = append(names, s.name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("-only %s chooses %q (%v), want %q", only, got, err, want)
		}
	}
	if _, err := choose(steps, "vet,nosuch"); err == nil || !strings.Contains(err.Error(), `no step "nosuch"`) {
		t.Errorf("an unknown step: %v", err)
	}
}

// TestCompilePeer: every program is compiled with all warnings, by the compiler of its library.
func TestCompilePeer(t *testing.T) {
	for program, want := range map[string]string{
		"bale.c": "oshcc -O3 -Wall -Wextra -Werror -o b tests/peers/bale.c -lm",
		"mpi.c":  "mpicc -O3 -Wall -Wextra -Werror -o b tests/peers/mpi.c -lm",
		"ucp.c":  "gcc -O3 -Wall -Wextra -Werror -o b tests/peers/ucp.c -lucp -lucs",
		"argo.c": "",
	} {
		if got := strings.Join(compilePeer("tests/peers/"+program, "b"), " "); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

// TestShellLine has a shell parse the line.
func TestShellLine(t *testing.T) {
	argv := []string{"printf", `%s\n`, "plain", "a b", "it's", `back\slash`, "$HOME", "", "{host}"}
	out, err := exec.Command("sh", "-c", shellLine(nil, argv)).Output()
	if want := strings.Join(argv[2:], "\n") + "\n"; err != nil || string(out) != want {
		t.Errorf("the shell prints %q (%v), want %q", out, err, want)
	}
}

// machine makes scripts the only commands, by name.
func machine(t *testing.T, commands map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range commands {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

// thing is missing until apt-get has been asked for its package.
var thing = []need{{"a thing", []string{"thing-dev"}, onPath("thing")}}

func TestInstall(t *testing.T) {
	apt := `dir=${0%/*}
echo "$@" >> $dir/asked
case "$*" in *install*thing-dev*) echo > $dir/thing; /bin/chmod 755 $dir/thing;; esac
`
	commands := map[string]string{"apt-get": apt}
	if os.Geteuid() != 0 {
		commands["sudo"] = `exec "${0%/*}/$@"`
	}
	dir := machine(t, commands)
	if err := install(t.Context(), "run-x", thing); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if lines := strings.Split(string(asked), "\n"); err != nil || len(lines) != 3 || !strings.HasSuffix(lines[0], "update") || !strings.HasSuffix(lines[1], "thing-dev") {
		t.Errorf("apt-get was asked for %q (%v)", asked, err)
	}
	// Now nothing is missing, and apt-get is not asked.
	machine(t, map[string]string{"apt-get": "exit 1", "thing": ""})
	if err := install(t.Context(), "run-x", thing); err != nil {
		t.Error(err)
	}
}

func TestInstallFails(t *testing.T) {
	for name, c := range map[string]struct {
		commands map[string]string
		says     string
	}{
		"no apt":        {nil, "run-x: this system has no apt-get: run `apt-get install thing-dev` as root first, or its like"},
		"apt fails":     {map[string]string{"apt-get": "exit 100", "sudo": `exec "${0%/*}/$@"`}, "run-x: apt-get failed (exit status 100): run `apt-get install thing-dev` as root, and see why"},
		"does not help": {map[string]string{"apt-get": "", "sudo": ""}, "run-x: after installing thing-dev this is still missing: a thing; is another one in the way on PATH?"},
	} {
		t.Run(name, func(t *testing.T) {
			machine(t, c.commands)
			if err := install(t.Context(), "run-x", thing); err == nil || err.Error() != c.says {
				t.Errorf("it says %v, want %s", err, c.says)
			}
		})
	}
	if os.Geteuid() != 0 {
		t.Run("no sudo", func(t *testing.T) {
			machine(t, map[string]string{"apt-get": ""})
			if err := install(t.Context(), "run-x", thing); err == nil || !strings.Contains(err.Error(), "not root, and there is no sudo") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// TestCancelEndsTheGroup: what a program has started ends with it.
func TestCancelEndsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := command(ctx, "sh", "-c", "sleep 100 & echo started; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		io.ReadFull(out, make([]byte, len("started")))
		cancel()
		io.Copy(io.Discard, out) // ends when no process has the pipe any more
		close(ended)
	}()
	if err := finish(t.Context(), cmd); err == nil {
		t.Error("a program that was cancelled ended well")
	}
	limit, stop := hang.Context(t.Context())
	defer stop()
	select {
	case <-ended:
	case <-limit.Done():
		t.Error("something of it is left")
	}
}

// TestUnderUCXIsComplete: the step ucx118 runs the tests of pgas and notify whose atomics UCX carries out, all of them,
// and of these two packages no others.
func TestUnderUCXIsComplete(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	native := map[string]string{ // in the text of such tests
		"./pgas":   `RunNIC\(|everywhere\(|"PGAS_AMO=nic"|"PGAS_CHECK=race"`,
		"./notify": `"PGAS_AMO=nic"`,
	}
	of, err := underUCX(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range of {
		if native[u.pkg] == "" {
			continue
		}
		var want []string
		for name, text := range testFunctions(t, u.pkg) {
			if regexp.MustCompile(native[u.pkg]).MatchString(text) {
				want = append(want, "Test"+name)
			}
		}
		got := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(u.names))...)))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("of %s these tests run under another UCX:\n%s\nand these should:\n%s", u.pkg, got, want)
		}
		delete(native, u.pkg)
	}
	if len(native) > 0 {
		t.Errorf("none of these packages runs under another UCX: %v", native)
	}
}

// TestFlagsUnderUCX: patterns with subtests come before those of whole tests.
func TestFlagsUnderUCX(t *testing.T) {
	u := ucxTests{pkg: "./p", names: map[string][]string{"": {"TestA", "TestAB"}, "x|y": {"TestC"}, "nic": {"TestD", "TestE"}}}
	want := []string{"-run=^(TestC)$/^(x|y)$|^(TestD|TestE)$/^(nic)$|^(TestA|TestAB)$"}
	if got := u.flags(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (ucxTests{pkg: "./p"}).flags(); !slices.Equal(got, []string{"-short"}) {
		t.Errorf("a whole package has %q", got)
	}
}

// testFunctions returns the text of the tests in dir, by their names without Test.
func testFunctions(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
	}
	found := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range testFunc.FindAllSubmatch(text, -1) {
			found[string(f[1])] = string(f[0])
		}
	}
	return found
}

var testFunc = regexp.MustCompile(`(?ms)^func Test(\w+)\(.*?^}`)

// TestEnterIsForRunTests: outside of a namespace of its own it changes no root.
func TestEnterIsForRunTests(t *testing.T) {
	var usage usageError
	if err := enter([]string{t.TempDir(), t.TempDir(), "--", "true"}); !errors.As(err, &usage) {
		t.Errorf("enter: %v", err)
	}
}
