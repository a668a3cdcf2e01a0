// Package pages reads pages of documentation, for tests that execute them.
package pages

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Block is one fenced block of a page.
type Block struct {
	Line     int
	Section  string // the heading of the second level above it
	Language string
	File     string // what follows the language in the info string
	Text     string
}

// Blocks returns the blocks of a page, in order.
func Blocks(page string) (blocks []Block, err error) {
	f, err := os.Open(page)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var open *Block
	section := ""
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		info, fence := strings.CutPrefix(lines.Text(), "```")
		switch {
		case fence && open == nil:
			open = &Block{Line: n, Section: section}
			open.Language, open.File, _ = strings.Cut(info, " ")
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += lines.Text() + "\n"
		default:
			if heading, ok := strings.CutPrefix(lines.Text(), "## "); ok {
				section = heading
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", page, open.Line)
	}
	return blocks, lines.Err()
}

// Paragraph is a run of prose: what stands between blank lines, headings, rows of tables, blocks and items of lists.
type Paragraph struct {
	Line int
	Text string
}

var listItem = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)

// Paragraphs returns the paragraphs of the text of a page, in order.
func Paragraphs(text string) (paragraphs []Paragraph) {
	inBlock, open := false, false
	n := 0
	for line := range strings.Lines(text) {
		n++
		fence := strings.HasPrefix(line, "```")
		inBlock = inBlock != fence
		if inBlock || fence || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
			open = false
			continue
		}
		if !open || listItem.MatchString(line) {
			paragraphs = append(paragraphs, Paragraph{Line: n})
		}
		open = true
		paragraphs[len(paragraphs)-1].Text += line
	}
	return paragraphs
}
