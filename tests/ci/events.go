package main

// What go test -json reports of a package.

import (
	"regexp"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// packageRun is what a package has reported.
type packageRun struct {
	begun, passed, skipped, failed []string          // tests
	how                            map[string]string // how a test failed
	over                           bool              // it had run all tests when it failed
	proof                          bool              // it has printed something of proofs
}

// proofs are reports of faults that are certain, though they show by chance: of the race detector, of the runtime, and
// of C's sanitizer.
var proofs = regexp.MustCompile(`WARNING: DATA RACE|fatal error: concurrent map|\.[ch]:\d+:\d+: runtime error: `)

// note records an event of a test, or of the package.
func (p *packageRun) note(e event, printed []string) {
	p.proof = p.proof || e.Action == "fail" && proofs.MatchString(strings.Join(printed, ""))
	switch {
	case e.Test == "" && e.Action == "output":
		p.over = p.over || e.Output == "FAIL\n"
		p.proof = p.proof || proofs.MatchString(e.Output)
	case e.Test == "":
	case e.Action == "run":
		p.begun = append(p.begun, e.Test)
	case e.Action == "pass":
		p.passed = append(p.passed, e.Test)
	case e.Action == "skip":
		p.skipped = append(p.skipped, e.Test)
	case e.Action == "fail":
		p.failed = append(p.failed, e.Test)
		p.how[e.Test] = firstLine(printed)
	}
}

// firstLine returns the first line that a test itself has printed.
func firstLine(printed []string) string {
	for line := range strings.Lines(strings.Join(printed, "")) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") && !isBenchmark(line) {
			return line[:min(len(line), 200)]
		}
	}
	return saidNothing
}

const saidNothing = "it said nothing"

func isBenchmark(name string) bool { return strings.HasPrefix(name, "Benchmark") }
