// Command tree adds up numbers of all PEs along a tree, by messages, by one-sided access and by notified
// access: the hierarchical computation of "Notified Access" (Belli, Hoefler, IPDPS 2015), section VI.B.
//
//	pgasrun -n 4 ./samples/tree
//	go run ./samples/tree -sim
//
// tree.go has the reduction, ways.go what differs between the versions.
package main

import (
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/versions"
)

const help = `tree adds up the numbers of all PEs, along a tree in which each PE has up to 16 children, and compares
the ways in which the numbers can come to the parent.

usage: pgasrun [pgasrun's flags] ./samples/tree [flags]
       tree -sim [flags]

  pgasrun -n 17 ./samples/tree                            a root and its children, on this host
  pgasrun -hosts a:8,b:9 -launch 'ssh {host}' /opt/tree -n 1024
                                                          8 KiB of each, some of them between hosts
  tree -sim -pes 32,256,1024                              the same code on a Cray XC30 that is simulated
  tree -sim -mode messages,notify -arity 2

The time is that of one reduction, from when all PEs are ready until the root has the sum; on real PEs from when the
root tells the others to begin, which takes a message to each of them. The root checks each sum. In the simulator an addition takes what -element says, and a message or a notification takes its receiver
what -receive and -note say, besides the way; on real PEs, what they take.

`

type options struct {
	numbers    int     // of each PE
	arity      int     // children of an inner node
	reductions int     // of a round
	element    float64 // nanoseconds for an addition
	receive    float64 // nanoseconds for receiving a message that has arrived
	note       float64 // nanoseconds for taking a notification that has arrived
}

// The time of an addition, measured by BenchmarkAdd on one core of an AMD EPYC: 0.3 ns for each of 1,024 numbers
// in its first-level cache.
const measuredElement = 0.3

// The time of receiving, measured by BenchmarkReceive on the same core: for each of 16 messages of 8 bytes that have
// arrived, and for each of 16 notifications of one request.
const measuredReceive, measuredNote = 110, 15

const mostNumbers, mostArity, mostReductions = 1 << 20, 1 << 10, 1 << 20

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.numbers, "n", 1, "`numbers` of 8 bytes that each PE has")
	fs.IntVar(&o.arity, "arity", 16, "most `children` of a node")
	fs.IntVar(&o.reductions, "reductions", 20, "`reductions` in a round, each after all PEs have met")
	fs.Float64Var(&o.element, "element", measuredElement, "with -sim: `nanoseconds` that adding a number to another takes")
	fs.Float64Var(&o.receive, "receive", measuredReceive, "with -sim: `nanoseconds` that matching and copying a message takes its receiver")
	fs.Float64Var(&o.note, "note", measuredNote, "with -sim: `nanoseconds` that matching a notification takes")
}

func (o *options) check(npes int) error {
	switch {
	case o.numbers < 1 || o.numbers > mostNumbers:
		return fmt.Errorf("-n %d: give a number from 1 to %d", o.numbers, mostNumbers)
	case o.arity < 2 || o.arity > mostArity:
		return fmt.Errorf("-arity %d: give a number from 2 to %d", o.arity, mostArity)
	case o.reductions < 1 || o.reductions > mostReductions:
		return fmt.Errorf("-reductions %d: give a number from 1 to %d", o.reductions, mostReductions)
	}
	for _, cost := range []struct {
		flag        string
		nanoseconds float64
	}{{"element", o.element}, {"receive", o.receive}, {"note", o.note}} {
		if !(cost.nanoseconds >= 0 && cost.nanoseconds <= 1e6) {
			return fmt.Errorf("-%s %v: give nanoseconds from 0 to 1e6", cost.flag, cost.nanoseconds)
		}
	}
	return nil
}

// takes returns n times so many nanoseconds.
func takes(n int, nanoseconds float64) time.Duration {
	return time.Duration(math.Round(nanoseconds * float64(n)))
}

func (o *options) about(npes int) string {
	return fmt.Sprintf("%d-ary reduction of %d number(s)", o.arity, o.numbers)
}

func program(o *options) *versions.Program {
	return &versions.Program{
		Name:  "tree",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		About: o.about,
		Modes: modes(o),
		PEs:   "32,64,128,256",
		Bytes: func(int) int { return 8 * o.numbers },
	}
}

func main() { versions.Main(program(&options{})) }
