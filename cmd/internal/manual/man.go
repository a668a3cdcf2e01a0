package manual

// The manual page, in the macros of man(7). Prose stays as -h has it, line by line, since its examples are in columns;
// flags are filled paragraphs under the headings of -h.

import (
	"fmt"
	"strings"
	"unicode"
)

// Page returns the manual page of a command. It has no date: the same source makes the same page.
func (c *Command) Page() string {
	var b strings.Builder
	h := parse(c.Help())
	page := strings.ReplaceAll(c.Name, " ", "-")
	fmt.Fprintf(&b, ".\\\" Made by `%s manual` of what `%s -h` prints; do not edit.\n", strings.Fields(c.Name)[0], c.Name)
	fmt.Fprintf(&b, ".TH %s 1 \"\" gopgas\n.SH NAME\n%s \\- %s\n", strings.ToUpper(escape(page)), escape(page), escape(strings.TrimSuffix(c.Short, ".")))
	writeLines(&b, "DESCRIPTION", h.before)
	heading := ""
	for i := range h.flags {
		f := &h.flags[i]
		if f.Heading != heading {
			heading = f.Heading
			fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(escape(heading)))
		}
		fmt.Fprintf(&b, ".TP\n.B \\-%s", escape(f.Name))
		if f.Value != "" {
			fmt.Fprintf(&b, " \\fI%s\\fR", escape(f.Value))
		}
		fmt.Fprintf(&b, "\n%s\n", line(f.Usage))
	}
	writeLines(&b, "NOTES", h.after)
	if subs := c.Listed(); len(subs) > 0 {
		var others []string
		for _, sub := range subs {
			others = append(others, fmt.Sprintf(".BR %s (1)", escape(strings.ReplaceAll(sub.Name, " ", "-"))))
		}
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(others, " ,\n"))
	}
	return b.String()
}

// writeLines writes prose as it is.
func writeLines(b *strings.Builder, heading string, text []string) {
	body := strings.Trim(strings.Join(text, "\n"), "\n")
	if strings.TrimSpace(body) == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", heading)
	for l := range strings.SplitSeq(body, "\n") {
		fmt.Fprintln(b, line(strings.TrimRightFunc(l, unicode.IsSpace)))
	}
	fmt.Fprintln(b, ".fi")
}

// line returns a line of text that is no request of roff.
func line(text string) string {
	text = escape(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}

// escape makes text stand for itself: a hyphen is one that can be copied into a shell, and so are quotes.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}
