package mistakes

// The page. A section of the third level is a mistake. It has a block of Go, whose info string says what is done with
// it, and a block of text, which is what is printed.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A document is the page: mistakes, and the lines between their blocks of text.
type document struct {
	cell     string // the file of the records that all programs have
	parts    []string
	mistakes []mistake // the printed block of mistake i stands before parts[i+1]
}

// A mistake is what a program does wrong.
type mistake struct {
	title     string
	line      int      // of its block of Go
	how       []string // the info string behind "go"
	source    string
	printed   string
	placeless bool // there is no line to name
}

// is reports whether the info string has a word.
func (m *mistake) is(word string) bool { return slices.Contains(m.how, word) }

var fence = regexp.MustCompile("^```(.*)$")

func parsePage(text string) (*document, error) {
	p := &document{}
	var m mistake
	var before, block strings.Builder
	inside, info := false, ""
	for i, line := range strings.SplitAfter(text, "\n") {
		f := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case inside && f == nil:
			block.WriteString(line)
			continue
		case f != nil && !inside:
			inside, info = true, f[1]
			block.Reset()
			if strings.HasPrefix(info, "go") {
				m.line, m.how = i+1, strings.Fields(info)[1:]
			}
			before.WriteString(line)
			continue
		case f != nil && info == "text":
			if m.source == "" {
				return nil, fmt.Errorf("line %d: this text belongs to no block of Go", i+1)
			}
			m.printed = block.String()
			p.parts, p.mistakes = append(p.parts, before.String()), append(p.mistakes, m)
			before.Reset()
			m = mistake{}
		case f != nil && info == "go all":
			p.cell = block.String()
			before.WriteString(block.String())
		case f != nil:
			m.source = block.String()
			before.WriteString(block.String())
		}
		if f != nil {
			inside = false
		}
		if title, ok := strings.CutPrefix(line, "### "); ok {
			m = mistake{title: strings.TrimSpace(title)}
		}
		before.WriteString(line)
	}
	if inside {
		return nil, fmt.Errorf("a block has no end")
	}
	p.parts = append(p.parts, before.String())
	for i := range p.mistakes {
		p.mistakes[i].placeless = p.mistakes[i].is("nowhere")
	}
	return p, nil
}

// String is the page.
func (p *document) String() string {
	var b strings.Builder
	for i, part := range p.parts {
		b.WriteString(part)
		if i < len(p.mistakes) {
			b.WriteString(p.mistakes[i].printed)
		}
	}
	return b.String()
}

// varying is what differs from run to run: times, sizes of the machine, numbers of processes, addresses.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`\b\d+(\.\d+)?\s?(ns|µs|ms|s|min)\b`),
	regexp.MustCompile(`\b0x[0-9a-f]+\b`),
	regexp.MustCompile(`\bPE \d+ on host\b`), // which of several PEs with one error prints it
	regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`),
	regexp.MustCompile(`goroutine \d+`),
}

// sameText compares texts but for what varies.
func sameText(a, b string) bool {
	for _, v := range varying {
		a, b = v.ReplaceAllString(a, "…"), v.ReplaceAllString(b, "…")
	}
	return slices.Equal(sorted(a), sorted(b))
}

// sorted returns the lines in an order of their own: PEs print in none.
func sorted(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}
