package manual

// What may stand where the user is typing. The shell's script passes the words of the line; the last is the one to
// complete, and may be empty.

import (
	"slices"
	"strings"
)

// Complete returns a line for each candidate, "candidate<TAB>description", or one of the kinds, which the shell
// completes itself.
func (c *Command) Complete(words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	words = joinEquals(words)
	known := parse(c.Help()).flags
	last := len(words) - 1
	for i := 0; i < last; i++ {
		switch word := words[i]; {
		case word == "--" || !strings.HasPrefix(word, "-"):
			for _, sub := range c.Listed() {
				if i == 0 && sub.word() == word {
					return sub.Complete(words[1:])
				}
			}
			return lines(c.rest()) // what follows is for the program
		case strings.Contains(word, "="):
		default:
			if f := find(known, word); f != nil && f.Value != "" {
				if i++; i == last {
					return lines(f.kind())
				}
			}
		}
	}
	if strings.HasPrefix(words[last], "-") {
		return completeFlag(known, words[last])
	}
	return c.completeArgument(words[last], last == 0)
}

// rest is what arguments after the first are.
func (c *Command) rest() Kind {
	if c.Args == Programs {
		return Files
	}
	return c.Args
}

func (c *Command) completeArgument(prefix string, first bool) (found []string) {
	if first {
		for _, sub := range c.Listed() {
			found = appendMatch(found, prefix, sub.word(), sub.Short)
		}
	}
	for _, w := range c.Words {
		found = appendMatch(found, prefix, w, "")
	}
	return append(found, lines(c.Args)...)
}

// completeFlag completes a flag, or its value in "-flag=value" if that is one word.
func completeFlag(known []Flag, word string) (found []string) {
	if name, _, has := strings.Cut(word, "="); has {
		if f := find(known, name); f != nil {
			return lines(f.kind())
		}
		return nil
	}
	word = "-" + strings.TrimLeft(word, "-")
	for i := range known {
		found = appendMatch(found, word, "-"+known[i].Name, known[i].Usage)
	}
	return append(found, appendMatch(nil, word, "-h", "say how it is used")...)
}

// mostDescription keeps a candidate and its description in one line of a terminal.
const mostDescription = 100

func appendMatch(found []string, prefix, candidate, description string) []string {
	if !strings.HasPrefix(candidate, prefix) {
		return found
	}
	if r := []rune(description); len(r) > mostDescription {
		description = string(r[:mostDescription-1]) + "…"
	}
	return append(found, strings.TrimRight(candidate+"\t"+description, "\t"))
}

// find returns the flag of a word such as -n or --n, or nil.
func find(known []Flag, word string) *Flag {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	if i := slices.IndexFunc(known, func(f Flag) bool { return f.Name == name }); i >= 0 {
		return &known[i]
	}
	return nil
}

// joinEquals undoes what bash does to -flag=value: three words of it. The value is completed as a word of its own
// there.
func joinEquals(words []string) []string {
	var joined []string
	for i, w := range words {
		if w == "=" && i > 0 {
			if i == len(words)-1 {
				joined = append(joined, "")
			}
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

func lines(k Kind) []string {
	if k == Nothing {
		return nil
	}
	return []string{string(k)}
}
