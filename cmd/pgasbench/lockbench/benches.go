package lockbench

// The table of benches. A bench is a body that every PE runs, over pgas only, so that it runs on real PEs
// and in the simulator alike: it starts no goroutine, has the time from World.Now and random numbers from
// World.Random.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// A bench is one benchmark of a paper.
type bench struct {
	name, doc string
	locks     []string // it compares, in the order of the legend
	any       bool     // takes other kinds, too, if it is asked to
	y         string   // the metric that a plot shows
	usual     sweep    // what the command line leaves open
	body      func(ctx context.Context, w *pgas.World, c config) (Tally, error)
}

var benches = slices.Concat(sectionBenches, tableBenches, cascadeBenches, hashtableBenches)

func benchOf(name string) (bench, bool) {
	i := slices.IndexFunc(benches, func(b bench) bool { return b.name == name })
	if i < 0 {
		return bench{}, false
	}
	return benches[i], true
}

func benchNames() (names []string) {
	for _, b := range benches {
		names = append(names, b.name)
	}
	return names
}

// takes reports whether b can be asked to measure the kind.
func (b bench) takes(k kind) bool {
	return slices.Contains(b.locks, k.Name) || b.any && k.alloc != nil
}
