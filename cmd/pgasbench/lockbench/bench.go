package lockbench

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// A bench is one benchmark of a paper.
type bench struct {
	name, doc string
	locks     []string // the locks that it compares, in the order of the legend
	any       bool     // it takes other kinds, too, if the user names them
	y         string   // the metric that a plot shows
	usual     grid     // what the command line leaves open
	body      func(ctx context.Context, w *pgas.World, c config) (Tally, error)
}

// Row makes benches the rows of a table.
func (b bench) Row() (name, doc string) { return b.name, b.doc }

// takes reports whether b can be asked to measure the kind.
func (b bench) takes(k kind) bool {
	return slices.Contains(b.locks, k.Name) || b.any && k.alloc != nil
}
