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

// Sentence is a sentence of a paragraph: it ends with a mark behind which a capital letter follows, or the paragraph's
// end.
type Sentence struct {
	Line int
	Text string // on one line; code is left out, and of a link its text stands
}

var (
	codeSpan    = regexp.MustCompile("(?s)`[^`]*`")
	linkSpan    = regexp.MustCompile(`(?s)\[([^\]]*)\]\([^)]*\)`)
	sentenceEnd = regexp.MustCompile(`[.?!][)"*]*\s+[("*\[]*[A-Z~]`)
)

// Sentences returns the sentences of the text of a page, in order.
func Sentences(text string) (sentences []Sentence) {
	for _, p := range Paragraphs(text) {
		prose := codeSpan.ReplaceAllStringFunc(p.Text, func(code string) string {
			return "~" + strings.Repeat("\n", strings.Count(code, "\n"))
		})
		prose = linkSpan.ReplaceAllStringFunc(prose, func(link string) string {
			text := linkSpan.FindStringSubmatch(link)[1]
			return text + strings.Repeat("\n", strings.Count(link, "\n")-strings.Count(text, "\n"))
		})
		line := p.Line
		for prose != "" {
			end := len(prose)
			if at := sentenceEnd.FindStringIndex(prose); at != nil {
				end = at[0] + strings.IndexAny(prose[at[0]:], " \n")
			}
			sentences = append(sentences, Sentence{line, strings.Join(strings.Fields(prose[:end]), " ")})
			rest := strings.TrimLeft(prose[end:], " \n")
			line += strings.Count(prose[:len(prose)-len(rest)], "\n")
			prose = rest
		}
	}
	return sentences
}

var (
	chaining = regexp.MustCompile(`(?i)\b(?:that|which|of it|of them)\b`)
	rhythm   = regexp.MustCompile(`(?i)\b(?:that|those) of\b|\bof which\b|\bin place of\b|\b(?:is|are) told\b|\btoo$`)
)

// Chained reports whether the sentence has to be split: it has two of "that", "which", "of it" and "of them", or a turn
// of phrase that stands for a noun which should be repeated, as "that of".
func (s Sentence) Chained() bool {
	return len(chaining.FindAllString(s.Text, 2)) == 2 || rhythm.MatchString(strings.TrimRight(s.Text, `.?!:)*"`))
}
