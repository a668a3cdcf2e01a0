package sweep

import (
	"fmt"
	"slices"
	"strings"
)

// A Row is a row of a table.
type Row interface {
	Row() (name, doc string)
}

// Find returns the row of a name, and whether there is one.
func Find[T Row](rows []T, name string) (row T, found bool) {
	i := slices.IndexFunc(rows, func(r T) bool {
		n, _ := r.Row()
		return n == name
	})
	if i < 0 {
		return row, false
	}
	return rows[i], true
}

// Names returns the names of rows.
func Names[T Row](rows []T) (names []string) {
	for _, r := range rows {
		name, _ := r.Row()
		names = append(names, name)
	}
	return names
}

// List returns the heading and a line for each row, whose names take width columns.
func List[T Row](heading string, width int, rows []T) string {
	var text strings.Builder
	text.WriteString(heading + "\n")
	for _, r := range rows {
		name, doc := r.Row()
		fmt.Fprintf(&text, "  %-*s %s\n", width, name, doc)
	}
	return text.String()
}

// A Figure is a figure of a paper: what is measured for it, and how it is drawn. A grid is what a command varies.
type Figure[G any] struct {
	Name, Doc string // Doc begins with the number of the figure in its paper
	X, Y      string // the axes of the plot; "": as the command has it
	Grid      G
}

// Row makes figures the rows of a table.
func (f Figure[G]) Row() (name, doc string) { return f.Name, f.Doc }

// Chosen returns the figure of a name, or an empty figure if name is "". It returns an error if there is no such
// figure.
func Chosen[G any](figures []Figure[G], name string) (Figure[G], error) {
	f, found := Find(figures, name)
	if !found && name != "" {
		return f, fmt.Errorf("-figure %s: there is none of that name; there are %s", name, strings.Join(Names(figures), ", "))
	}
	return f, nil
}
