package pgastest

// Subtests of tests and of benchmarks, by kind of PE: which of them failed, and the command that runs one alone.

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// outcome is how the subtest of one kind of PE has ended.
type outcome struct {
	kind            string // its name below the test, such as hosts or sim/seed=3
	failed, skipped bool
}

// subtest runs body as the subtest name of tb. Of a benchmark it runs it b.N times.
func subtest(tb testing.TB, name string, body func(testing.TB)) outcome {
	tb.Helper()
	o := outcome{kind: name}
	switch parent := tb.(type) {
	case interface {
		Run(string, func(*testing.T)) bool
	}:
		o.failed = !parent.Run(name, func(t *testing.T) {
			t.Helper()
			defer func() { o.skipped = t.Skipped() }()
			body(t)
		})
	case interface {
		Run(string, func(*testing.B)) bool
	}:
		o.failed = !parent.Run(name, func(b *testing.B) {
			b.Helper()
			defer func() { o.skipped = b.Skipped() }()
			for range b.N {
				body(b)
			}
		})
	default:
		tb.Fatalf("pgastest runs subtests: give it a *testing.T, a *testing.B, or what embeds one, not a %T", tb)
	}
	return o
}

// runGroup runs several kinds as subtests of one, and returns their outcomes, or its own if it was skipped.
func runGroup(tb testing.TB, name string, kinds func(testing.TB) []outcome) []outcome {
	tb.Helper()
	var inner []outcome
	group := subtest(tb, name, func(tb testing.TB) { inner = kinds(tb) })
	if len(inner) == 0 {
		return []outcome{group}
	}
	for i := range inner {
		inner[i].kind = name + "/" + inner[i].kind
	}
	return inner
}

// fail ends tb, the subtest of one kind of PE, with an error. The message begins with that kind, and ends with the
// command that runs it alone.
func fail(tb testing.TB, err error) {
	tb.Helper()
	tb.Fatalf("%s: %s\nrun it alone: %s", kindOf(tb.Name()), strings.TrimRight(err.Error(), "\n"), command(tb, tb.Name()))
}

// kindOf returns the kind of PE that a subtest's name ends in.
func kindOf(name string) string {
	parts := strings.Split(name, "/")
	first := len(parts)
	for first > 1 && isKind(parts[first-1]) {
		first--
	}
	return strings.Join(parts[first:], "/")
}

func isKind(part string) bool {
	switch part {
	case "goroutines", "processes", "hosts", "nic", "late", "latest", "sim", "machine":
		return true
	}
	return strings.HasPrefix(part, "seed=")
}

// report says with which kinds of PEs a test fails and with which it passes, if it fails with any.
func report(tb testing.TB, outcomes []outcome) {
	tb.Helper()
	var failed, passed, skipped []string
	for _, o := range outcomes {
		switch {
		case o.failed:
			failed = append(failed, o.kind)
		case o.skipped:
			skipped = append(skipped, o.kind)
		default:
			kind, _, _ := strings.Cut(o.kind, "/") // sim, and not each seed
			passed = append(passed, kind)
		}
	}
	passed = slices.Compact(passed)
	if len(failed) == 0 || isPE() {
		return
	}
	text := "fails with PEs as " + strings.Join(failed, ", ")
	if len(passed) > 0 {
		text += "; passes as " + strings.Join(passed, ", ")
	}
	if len(skipped) > 0 {
		text += "; skipped " + strings.Join(skipped, ", ")
	}
	tb.Logf("%s\nrun the first alone: %s", text, command(tb, tb.Name()+"/"+failed[0]))
}

// command returns the command that runs one subtest, built and set up as this test binary was: with its settings in the
// environment, its flags of the build and those that the program under test has defined.
func command(tb testing.TB, name string) string {
	words := settings()
	pkg, flags := ".", []string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		if path, isTest := strings.CutSuffix(info.Path, ".test"); isTest {
			pkg = path
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "-race" && s.Value == "true":
				flags = append(flags, "-race")
			case s.Key == "-tags":
				flags = append(flags, "-tags="+s.Value)
			case s.Key == "CGO_ENABLED" && s.Value == "0":
				words = append(words, "CGO_ENABLED=0")
			}
		}
	}
	words = append(append(words, "go", "test"), flags...)
	if isBenchmark(tb) {
		words = append(words, "-run", "'^$'", "-bench", "'"+onlyTest(name)+"'")
	} else {
		words = append(words, "-run", "'"+onlyTest(name)+"'")
	}
	words = append(words, pkg)
	for _, f := range givenFlags(sharedFlags) {
		words = append(words, quoted(f))
	}
	return strings.Join(words, " ")
}

// settings returns the variables of the environment, ready for a shell, that change what a test does.
func settings() (words []string) {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "PGAS_") || name == "GOMAXPROCS" || name == "GORACE" {
			words = append(words, name+"="+quoted(value))
		}
	}
	slices.Sort(words)
	return words
}

// sharedFlags are the flags of package testing that change what a test does.
var sharedFlags = []string{"test.short", "test.cpu"}

// givenFlags returns the flags that this test binary was given: those of the program under test, and those of package
// testing that are among standard.
func givenFlags(standard []string) (flags []string) {
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") || slices.Contains(standard, f.Name) {
			flags = append(flags, "-"+strings.TrimPrefix(f.Name, "test.")+"="+f.Value.String())
		}
	})
	return flags
}

// quoted returns a word as a shell takes it.
func quoted(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("_-=.,:/+@%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isBenchmark(tb testing.TB) bool {
	_, is := tb.(interface {
		Run(string, func(*testing.B)) bool
	})
	return is
}

// selection returns the flags that make a test binary run one subtest, once, with the flags of the program under test.
func selection(tb testing.TB) []string {
	only := onlyTest(tb.Name())
	if isBenchmark(tb) {
		return append([]string{"-test.run=^$", "-test.bench=" + only, "-test.benchtime=1x", "-test.count=1", "-test.timeout=0"}, givenFlags(nil)...)
	}
	return append([]string{"-test.run=" + only, "-test.count=1", "-test.timeout=0"}, givenFlags(nil)...)
}
