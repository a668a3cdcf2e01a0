package tests

// Comments and prose are at most 120 columns wide, a tab being 4 of them, so that two files fit beside each other.

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const widest = 120

// TestWidth: no line of a comment in Go, C, Promela, assembly or a shell's script is too wide, and no line of prose.
func TestWidth(t *testing.T) {
	err := filepath.WalkDir("..", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && (e.Name() == ".git" || e.Name() == "bin" || e.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		lines := wideLines
		name := strings.TrimPrefix(file, "../")
		if name == "CHANGELOG.md" || name == "THIRD_PARTY_LICENSES.md" {
			return nil // a list that grows at every change, and texts of others
		}
		switch filepath.Ext(name) {
		case ".go", ".c", ".h", ".pml", ".s":
		case ".sh", "":
			lines = wideOfScript
		case ".md":
			lines = wideOfPage
		default:
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(content[:min(200, len(content))]), "Code generated") {
			return err
		}
		for _, n := range lines(string(content)) {
			t.Errorf("%s:%d is wider than %d columns: wrap it", name, n, widest)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWidthFindsFaults: what is too wide, in each kind of file, and what may be.
func TestWidthFindsFaults(t *testing.T) {
	long := strings.Repeat("word ", 25) // 125 columns
	url := "https://" + strings.Repeat("x", 120)
	for _, test := range []struct {
		name, text string
		find       func(string) []int
		want       string
	}{
		{"narrow", "// " + long[:100], wideLines, "[]"},
		{"comment", "package p\n// " + long, wideLines, "[2]"},
		{"just", "// " + strings.Repeat("w ", 58) + "w", wideLines, "[]"},
		{"one more", "// " + strings.Repeat("w ", 58) + "ww", wideLines, "[1]"},
		{"letters are not bytes", "// " + strings.Repeat("µ ", 58) + "w", wideLines, "[]"},
		{"tab", "\t\t// " + long[:113], wideLines, "[1]"},
		{"behind code", "x := 1 // " + long, wideLines, "[1]"},
		{"code", "x := f(" + long + ")", wideLines, "[]"},
		{"string", `x := "// ` + long + `"`, wideLines, "[]"},
		{"raw string", "x := `\n// " + long + "`", wideLines, "[]"},
		{"character", `if c == '"' { // ` + long, wideLines, "[1]"},
		{"block", "/* " + long + "*/", wideLines, "[1]"},
		{"inside of a block", "/*\n * " + long + "\n*/ int x;", wideLines, "[2]"},
		{"after a block", "/* x */ f(" + long + ");", wideLines, "[]"},
		{"address", "// " + url, wideLines, "[]"},
		{"code in a comment", "//\t" + long, wideLines, "[]"},
		{"directive", "//go:generate " + long, wideLines, "[]"},
		{"output of an example", "// Output:\n// " + long + "\n\n// " + long, wideLines, "[4]"},
		{"script", "x=1\n# " + long, wideOfScript, "[2]"},
		{"command of a script", "echo " + long, wideOfScript, "[]"},
		{"prose", "short\n" + long + "\n", wideOfPage, "[2]"},
		{"item", "- " + long, wideOfPage, "[1]"},
		{"table", "| " + long + "|", wideOfPage, "[]"},
		{"block of code", "```sh\n" + long + "\n```\n" + long, wideOfPage, "[4]"},
		{"link", "- [one](" + url + ")", wideOfPage, "[]"},
	} {
		if found := fmt.Sprint(test.find(test.text)); found != test.want {
			t.Errorf("%s: found %s, want %s", test.name, found, test.want)
		}
	}
}

func tooWide(line string) bool {
	return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > widest
}

// breakable reports whether a text of one line could be two lines.
func breakable(text string) bool { return len(strings.Fields(text)) > 1 }

var (
	directive = regexp.MustCompile(`^//(?:[a-z]+:|export |line |\t|  )`) // and code in a comment
	output    = regexp.MustCompile(`^// (?:Unordered o|O)utput:`)
	marker    = regexp.MustCompile(`^\s*(?:[-*>]|\d+\.)\s+`)
)

// wideLines returns the lines of a source whose comments are too wide.
func wideLines(source string) (lines []int) {
	n, inOutput := 0, false
	var s commentScanner
	for line := range strings.Lines(source) {
		n++
		line = strings.TrimRight(line, "\n")
		at := s.comment(line)
		if at < 0 {
			inOutput = false
			continue
		}
		comment := line[at:]
		inOutput = inOutput || output.MatchString(comment)
		if tooWide(line) && breakable(strings.TrimLeft(comment, "/* ")) && !inOutput && !directive.MatchString(comment) {
			lines = append(lines, n)
		}
	}
	return lines
}

// A commentScanner finds the comments of a source line by line.
type commentScanner struct {
	block, raw bool // inside of /* */, of a raw string
}

// comment returns where the last comment of the line begins, -1 if the line does not end in one.
func (s *commentScanner) comment(line string) int {
	begin, quote := -1, byte(0)
	if s.block {
		begin = 0
	}
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch {
		case s.block:
			if strings.HasPrefix(rest, "*/") {
				s.block = false
				i++
				if strings.TrimSpace(line[i+1:]) != "" {
					begin = -1
				}
			}
		case s.raw:
			s.raw = line[i] != '`'
		case quote != 0:
			if line[i] == '\\' {
				i++
			} else if line[i] == quote {
				quote = 0
			}
		case strings.HasPrefix(rest, "//"):
			return i
		case strings.HasPrefix(rest, "/*"):
			s.block, begin = true, i
			i++
		case line[i] == '`':
			s.raw = true
		case line[i] == '"' || line[i] == '\'':
			quote = line[i]
		}
	}
	return begin
}

// wideOfScript returns the lines of a shell's script that are comments and too wide.
func wideOfScript(script string) (lines []int) {
	n := 0
	for line := range strings.Lines(script) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "# ") && tooWide(line) && breakable(line[2:]) {
			lines = append(lines, n)
		}
	}
	return lines
}

// wideOfPage returns the lines of prose of a page that are too wide: not those of tables and of blocks of code.
func wideOfPage(page string) (lines []int) {
	n, code := 0, false
	for line := range strings.Lines(page) {
		n++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if !code && !strings.HasPrefix(line, "|") && tooWide(line) && breakable(marker.ReplaceAllString(line, "")) {
			lines = append(lines, n)
		}
	}
	return lines
}
