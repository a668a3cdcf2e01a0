package topo

// A tree as a table: a line for each level, with the PEs of its elements as far as they fit.

import (
	"fmt"
	"strconv"
	"strings"
)

// listWidth is about the largest width of a list of elements.
const listWidth = 80

// String returns a table with a line for each level.
func (t *Tree) String() string {
	width := len("level")
	for _, l := range t.levels {
		width = max(width, len(l.name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  elements  PEs of each\n", width, "level")
	for _, l := range t.levels {
		fmt.Fprintf(&b, "%-*s  %8d  %s\n", width, l.name, l.Elements(), l.list())
	}
	return b.String()
}

// list returns the elements: "0-3 | 4-7".
func (l Level) list() string {
	var b strings.Builder
	for e := range l.Elements() {
		text := ranges(l.Members(e))
		if e > 0 {
			if b.Len()+len(text) > listWidth {
				fmt.Fprintf(&b, " | … %d more", l.Elements()-e)
				break
			}
			b.WriteString(" | ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// ranges returns ascending numbers as 0-3,8,9, cut off if the list is long.
func ranges(pes []int) string {
	var b strings.Builder
	for i := 0; i < len(pes); {
		j := i + 1
		for j < len(pes) && pes[j] == pes[j-1]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > listWidth/2 {
			b.WriteString("…")
			break
		}
		b.WriteString(strconv.Itoa(pes[i]))
		if j-i > 1 {
			b.WriteString("-" + strconv.Itoa(pes[j-1]))
		}
		i = j
	}
	return b.String()
}
