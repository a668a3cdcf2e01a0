// Command p2p is the Sync_p2p kernel of the Parallel Research Kernels, a pipelined stencil, by messages, by
// one-sided access and by notified access: "Notified Access" (Belli, Hoefler, IPDPS 2015), section VI.A.
//
//	pgasrun -n 4 ./samples/p2p
//	go run ./samples/p2p -sim
//
// grid.go has the kernel, links.go what differs between the versions.
package main

import (
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/versions"
)

const help = `p2p computes each point of a grid from the points to its left, above it and between these. Each PE has some
of the columns, and does a row when the PE to its left has done it; so a point goes from PE to PE for every row,
and the PEs work one row apart. It compares the ways in which that point can come.

usage: pgasrun [pgasrun's flags] ./samples/p2p [flags]
       p2p -sim [flags]

  pgasrun -n 2 ./samples/p2p                              1280 columns of each PE, on this host
  pgasrun -n 4 ./samples/p2p -total 12800                 a grid that does not grow with the PEs
  pgasrun -hosts a:1,b:1 -launch 'ssh {host}' /opt/p2p -mode messages,notify
  p2p -sim -pes 32,128                                    the same code on a Cray XC30 that is simulated
  p2p -sim -pes 8,16,32,64 -total 12800                   figure 1 of the paper

The time is that of one iteration over the grid, from when all PEs are ready until the last point has come back
to the first PE. It is checked after every round. In the simulator a point takes what -point says to compute;
on real PEs, what it takes. Gop/s counts two additions for each point.

`

type options struct {
	rows       int
	columns    int // of each PE
	total      int // of all PEs, instead
	iterations int
	point      float64 // nanoseconds
}

// The time of a point, measured by BenchmarkRow on one core of an AMD EPYC: 1.0 ns for each of 1,280 points. It is
// the latency of the two additions that each point must wait for.
const measuredPoint = 1.0

const mostPoints, mostIterations = 1 << 20, 1 << 20

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.rows, "rows", 1280, "`rows` of the grid")
	fs.IntVar(&o.columns, "columns", 1280, "`columns` of each PE")
	fs.IntVar(&o.total, "total", 0, "or `columns` of all PEs together")
	fs.IntVar(&o.iterations, "iterations", 2, "`iterations` in a round")
	fs.Float64Var(&o.point, "point", measuredPoint, "with -sim: `nanoseconds` that computing a point takes")
}

func (o *options) check(npes int) error {
	switch {
	case o.rows < 1 || o.rows > mostPoints:
		return fmt.Errorf("-rows %d: give a number from 1 to %d", o.rows, mostPoints)
	case o.columns < 1 || o.columns > mostPoints:
		return fmt.Errorf("-columns %d: give a number from 1 to %d", o.columns, mostPoints)
	case o.total != 0 && (o.total < npes || o.total > mostPoints):
		return fmt.Errorf("-total %d: give a number from %d, one column for each PE, to %d", o.total, npes, mostPoints)
	case o.iterations < 1 || o.iterations > mostIterations:
		return fmt.Errorf("-iterations %d: give a number from 1 to %d", o.iterations, mostIterations)
	case !(o.point >= 0 && o.point <= 1e6):
		return fmt.Errorf("-point %v: give nanoseconds from 0 to 1e6", o.point)
	}
	return nil
}

// share returns the columns of a PE: from first to end, without end. The given column is not counted.
func (o *options) share(pe, npes int) (first, end int) {
	if o.total != 0 {
		return o.total * pe / npes, o.total * (pe + 1) / npes
	}
	return o.columns * pe, o.columns * (pe + 1)
}

func (o *options) all(npes int) int {
	_, end := o.share(npes-1, npes)
	return end
}

// computing returns the time of so many points.
func (o *options) computing(points int) time.Duration {
	return time.Duration(math.Round(o.point * float64(points)))
}

func program(o *options) *versions.Program {
	return &versions.Program{
		Name:  "p2p",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		About: func(npes int) string {
			return fmt.Sprintf("a pipelined stencil of %d rows and %d columns", o.rows, o.all(npes))
		},
		Modes: modes(o),
		PEs:   "8,32,64",
		Work:  func(npes int) float64 { return 2 * float64(o.rows) * float64(o.all(npes)) },
		Unit:  "Gop/s",
		Bytes: func(int) int { return 8 },
	}
}

func main() { versions.Main(program(&options{})) }
