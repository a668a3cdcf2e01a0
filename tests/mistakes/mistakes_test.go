// Package mistakes makes the mistakes of docs/learn/mistakes.md and compares what a user reads with what the page says.
// The page is the source of the programs: a mistake is a section whose block of Go is put into a program, and whose
// block of text is all that is printed.
//
//	go test ./tests/mistakes -rewrite    writes into the page what is printed now
//
// page_test.go reads the page, program_test.go writes the programs, and run_test.go runs them.
//
//ci:waits
package mistakes

import (
	"flag"
	"os"
	"strings"
	"testing"
)

const page = "../../docs/learn/mistakes.md"

var rewrite = flag.Bool("rewrite", false, "write what is printed into the page")

func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.mistakes) < 25 {
		t.Errorf("the page has %d mistakes, want 25", len(p.mistakes))
	}
	u := newUser(t, p)
	for i := range p.mistakes {
		m := &p.mistakes[i]
		t.Run(m.title, func(t *testing.T) {
			got := u.make(t, m)
			if sameText(got, m.printed) {
				m.check(t)
				return
			}
			if *rewrite {
				m.printed = got
				return
			}
			t.Errorf("%s:%d: the page says\n%sand the user reads\n%s", page, m.line, m.printed, got)
		})
	}
	if *rewrite {
		if err := os.WriteFile(page, []byte(p.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// check fails if what is printed does not name the user's file, unless the page says that it cannot.
func (m *mistake) check(t *testing.T) {
	t.Helper()
	for _, file := range []string{"mistake.go:", "cell.go:", "_pgas.go:", "main.go:", "mistake_test.go:"} {
		if strings.Contains(m.printed, file) {
			return
		}
	}
	if !m.placeless {
		t.Errorf("%s:%d: what is printed does not name a line of the user's", page, m.line)
	}
}
