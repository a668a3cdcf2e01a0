package dsmbench

// The command line.

import (
	"cmp"
	"flag"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// Options are what the command line says.
type Options struct {
	sweep.Options
	points  []point
	benches []bench
	blocks  []int
	span    time.Duration
}

const usage = `DESCRIPTION
  Measure coherent memory (package dsm) on the PEs of a job, or run skeletons of the NAS Parallel Benchmarks in the simulator.

USAGE
  pgasrun -n 2 pgasbench dsm [flags]
  pgasbench dsm -sim [flags]

On a job, page faults are asked for on one host, too. Each figure stands beside that of an operation of package pgas in
the same loop, and the ratio is what counts.

EXAMPLES
  $ pgasrun -n 2 pgasbench dsm                                # every bench, on this host
  $ pgasrun -hosts a:1,b:1 pgasbench dsm -bench read-fault    # between two hosts
  $ pgasbench dsm -sim -figure cg-notices -plot cliff.svg     # a figure of the paper
  $ pgasbench dsm -sim -bench bt -protocol floating,fixed-home -nodes 2,4
  $ pgasbench dsm -list                                       # benches, skeletons and figures

FLAGS
`

// Help returns what -h prints.
func Help() string {
	fs, _ := declareFlags()
	return sweep.Help(usage, fs)
}

// List returns a line for each bench, each skeleton and each figure.
func List() string {
	return sweep.List("benches (-bench)", 16, benches) + sweep.List("skeletons (-sim -bench)", 16, programs) +
		sweep.List("figures (-sim -figure)", 16, figures)
}

// given is the flags as they are written.
type given struct {
	o                        Options
	bench, protocol, notices string
	lease, blocks            string
	steps                    int
	fault                    time.Duration
}

func declareFlags() (*flag.FlagSet, *given) {
	fs := flags.New("dsm")
	g := &given{}
	g.o.Declare(fs, sweep.Texts{
		Simulated: "run skeletons in the simulator, without pgasrun",
		List:      "list benches, skeletons and figures, and end",
		Figure:    "with -sim: the points of a figure of the paper, by its `name`",
		Nodes:     "with -sim: `numbers` of hosts",
		Threads:   "with -sim: `numbers` of PEs of a host",
		X:         "with -sim: `parameter` along the plot (default the figure's, or nodes)",
		Y:         "with -sim: `metric` up the plot: " + strings.Join(sweep.Names(metrics), ", ") + " (default the figure's, or program)",
		Costs:     "connectx3",
		Vary:      "latency=2,gap=0.5",
	})
	fs.StringVar(&g.bench, "bench", "", "`benches` or skeletons to run, divided by commas (default all; with -sim cg)")
	fs.StringVar(&g.blocks, "blocks", "4096,32768", "`sizes` of blocks in bytes")
	flags.DurationVar(fs, &g.o.span, "time", 200*time.Millisecond, "for how `long` each figure is measured")
	fs.StringVar(&g.protocol, "protocol", "", "with -sim: `protocols` to compare: "+strings.Join(protocolNames(), ", "))
	fs.StringVar(&g.notices, "notices", "", "with -sim: `numbers` of write notices of a fence (default the paper's)")
	fs.StringVar(&g.lease, "lease", "", "with -sim: `numbers`: the lease")
	flags.IntVar(fs, &g.steps, "steps", 3, "with -sim: `steps` of the program that are measured, after two that are not")
	flags.DurationVar(fs, &g.fault, "fault", usualFault, "with -sim: CPU `time` of a block that is fetched or written first, besides its messages")
	return fs, g
}

// rules are what a command line must not have.
var rules = sweep.Rules{
	Choose:       "benches are chosen with -bench",
	OfSimulator:  []string{"figure", "protocol", "notices", "lease", "nodes", "threads", "steps", "fault", "costs", "vary", "seed", "jobs", "x", "y"},
	NotOnJob:     "on a job, the PEs are as pgasrun makes them",
	OfJob:        []string{"blocks", "time"},
	NotSimulated: "a skeleton has the blocks and steps of its program",
}

// Parse reads the arguments behind "dsm". The error is flag.ErrHelp, which asks for Help, or one line about a mistake.
func Parse(args []string) (*Options, error) {
	fs, g := declareFlags()
	if err := g.o.Parse(fs, args, rules); err != nil {
		return nil, err
	}
	if g.o.List {
		return &g.o, nil
	}
	if err := chart.CheckName(g.o.Plot); err != nil {
		return nil, err
	}
	if g.o.Simulated {
		return &g.o, g.simulated()
	}
	return &g.o, g.measured()
}

// measured reads what a job measures.
func (g *given) measured() error {
	r := lists.Reader{}
	names := r.Words("bench", g.bench, sweep.Names(benches))
	g.o.blocks = r.Ints("blocks", g.blocks, 4096, 1<<20)
	if g.o.span <= 0 {
		r.Fail("-time %v: more than nothing, such as 200ms", g.o.span)
	}
	for _, size := range g.o.blocks {
		if size&(size-1) != 0 {
			r.Fail("-blocks %d: a block is a power of two", size)
		}
	}
	for _, b := range benches {
		if len(names) == 0 || slices.Contains(names, b.name) {
			g.o.benches = append(g.o.benches, b)
		}
	}
	return r.Err
}

// simulated makes points of what is given.
func (g *given) simulated() error {
	f, err := sweep.Chosen(figures, g.o.Figure)
	if err != nil {
		return err
	}
	r := lists.Reader{}
	s := grid{
		benches: r.Words("bench", g.bench, sweep.Names(programs)), protocols: r.Words("protocol", g.protocol, protocolNames()),
		notices: r.Ints("notices", g.notices, 0, 1<<16), lease: r.Ints("lease", g.lease, 1, 1<<30),
		nodes: r.Ints("nodes", g.o.Nodes, 1, 4096), threads: r.Ints("threads", g.o.Threads, 1, 64),
		rest: point{Steps: g.steps, Fault: g.fault, Costs: r.Word("costs", g.o.Costs, machines.Names()), Vary: g.o.Vary, Seed: g.o.Seed},
	}
	if _, err := machines.Costs("connectx3", g.o.Vary); err != nil {
		r.Fail("%w", err)
	}
	if g.steps < 1 {
		r.Fail("-steps %d: at least one", g.steps)
	}
	o := &g.o
	o.points = s.over(f.Grid).over(usual).points()
	o.X, o.Y, o.Title = cmp.Or(o.X, f.X, "nodes"), cmp.Or(o.Y, f.Y, "program"), f.Doc
	if err := o.Check(numericNames(), []string{"notices", "lease", "nodes", "pes"}, sweep.Names(metrics)); err != nil {
		r.Fail("%w", err)
	}
	return r.Err
}

// numericNames returns the parameters that can be an axis.
func numericNames() (names []string) {
	for _, p := range parameters {
		if p.value != nil {
			names = append(names, p.name)
		}
	}
	return names
}
