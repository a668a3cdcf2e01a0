package dsmbench

// The command line.

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
)

// Options are what the command line says.
type Options struct {
	Simulated bool // run skeletons with Simulate, and otherwise measure with Run
	List      bool // print List, and end

	points  []point
	benches []bench
	blocks  []int
	span    time.Duration
	jobs    int
	json    bool
	plot    string
	title   string
	x, y    string
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
	var text strings.Builder
	fs, _ := declareFlags()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return usage + text.String()
}

// List returns a line for each bench, each skeleton and each figure.
func List() string {
	var text strings.Builder
	text.WriteString("benches (-bench)\n")
	for _, b := range benches {
		fmt.Fprintf(&text, "  %-16s %s\n", b.name, b.doc)
	}
	text.WriteString("skeletons (-sim -bench)\n")
	for _, p := range programs {
		fmt.Fprintf(&text, "  %-16s %s\n", p.name, p.doc)
	}
	text.WriteString("figures (-sim -figure)\n")
	for _, f := range figures {
		fmt.Fprintf(&text, "  %-16s %s\n", f.name, f.doc)
	}
	return text.String()
}

// given is the flags as they are written.
type given struct {
	o                                Options
	figure, bench, protocol, notices string
	lease, nodes, threads, blocks    string
	costs, vary                      string
	steps                            int
	fault                            time.Duration
	seed                             uint64
}

func declareFlags() (*flag.FlagSet, *given) {
	fs := flags.New("dsm")
	g := &given{}
	flags.BoolVar(fs, &g.o.Simulated, "sim", false, "run skeletons in the simulator, without pgasrun")
	flags.BoolVar(fs, &g.o.List, "list", false, "list benches, skeletons and figures, and end")
	fs.StringVar(&g.bench, "bench", "", "`benches` or skeletons to run, divided by commas (default all; with -sim cg)")
	fs.StringVar(&g.blocks, "blocks", "4096,32768", "`sizes` of blocks in bytes")
	flags.DurationVar(fs, &g.o.span, "time", 200*time.Millisecond, "for how `long` each figure is measured")
	fs.StringVar(&g.figure, "figure", "", "with -sim: the points of a figure of the paper, by its `name`")
	fs.StringVar(&g.protocol, "protocol", "", "with -sim: `protocols` to compare: "+strings.Join(protocolNames(), ", "))
	fs.StringVar(&g.notices, "notices", "", "with -sim: `numbers` of write notices of a fence (default the paper's)")
	fs.StringVar(&g.lease, "lease", "", "with -sim: `numbers`: the lease")
	fs.StringVar(&g.nodes, "nodes", "", "with -sim: `numbers` of hosts")
	fs.StringVar(&g.threads, "threads", "", "with -sim: `numbers` of PEs of a host")
	flags.IntVar(fs, &g.steps, "steps", 3, "with -sim: `steps` of the program that are measured, after two that are not")
	flags.DurationVar(fs, &g.fault, "fault", usualFault, "with -sim: CPU `time` of a block that is fetched or written first, besides its messages")
	fs.StringVar(&g.costs, "costs", "connectx3", "with -sim: what operations cost, on a `machine`: "+strings.Join(machines.Names(), ", "))
	fs.StringVar(&g.vary, "vary", "", "with -sim: costs of the machine that are `multiplied`, such as latency=2,gap=0.5")
	flags.Uint64Var(fs, &g.seed, "seed", 1, "with -sim: `number` from which all random ones follow")
	flags.IntVar(fs, &g.o.jobs, "jobs", runtime.GOMAXPROCS(0), "with -sim: `points` at a time")
	flags.BoolVar(fs, &g.o.json, "json", false, "print one JSON object a line")
	fs.StringVar(&g.o.plot, "plot", "", "draw a plot to `file`, .svg or .png")
	fs.StringVar(&g.o.x, "x", "", "with -sim: `parameter` along the plot (default the figure's, or nodes)")
	fs.StringVar(&g.o.y, "y", "", "with -sim: `metric` up the plot: "+strings.Join(metricNames(), ", ")+" (default the figure's, or program)")
	return fs, g
}

// simulatorOnly and jobOnly are flags that one of the two ways to measure has no use for.
var (
	simulatorOnly = []string{"figure", "protocol", "notices", "lease", "nodes", "threads", "steps", "fault", "costs", "vary", "seed", "jobs", "x", "y"}
	jobOnly       = []string{"blocks", "time"}
)

// Parse reads the arguments behind "dsm". The error is flag.ErrHelp, which asks for Help, or one line about a mistake.
func Parse(args []string) (*Options, error) {
	fs, g := declareFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: benches are chosen with -bench", fs.Arg(0))
	}
	if g.o.List {
		return &g.o, nil
	}
	var wrong error
	fs.Visit(func(f *flag.Flag) {
		switch {
		case !g.o.Simulated && slices.Contains(simulatorOnly, f.Name):
			wrong = fmt.Errorf("-%s is for -sim: on a job, the PEs are as pgasrun makes them", f.Name)
		case g.o.Simulated && slices.Contains(jobOnly, f.Name):
			wrong = fmt.Errorf("-%s is not for -sim: a skeleton has the blocks and steps of its program", f.Name)
		}
	})
	if g.o.Simulated && os.Getenv("PGAS_PE") != "" {
		wrong = errors.New("-sim simulates all PEs by itself: leave pgasrun away")
	}
	if wrong == nil {
		wrong = chart.CheckName(g.o.plot)
	}
	if wrong != nil {
		return nil, wrong
	}
	if g.o.Simulated {
		return &g.o, g.simulated()
	}
	return &g.o, g.measured()
}

// measured reads what a job measures.
func (g *given) measured() error {
	r := lists.Reader{}
	names := r.Words("bench", g.bench, benchNames())
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
	var f figure
	if g.figure != "" {
		var ok bool
		if f, ok = figureOf(g.figure); !ok {
			return fmt.Errorf("-figure %s: there is none of that name; there are %s", g.figure, strings.Join(figureNames(), ", "))
		}
	}
	r := lists.Reader{}
	s := sweep{
		benches: r.Words("bench", g.bench, programNames()), protocols: r.Words("protocol", g.protocol, protocolNames()),
		notices: r.Ints("notices", g.notices, 0, 1<<16), lease: r.Ints("lease", g.lease, 1, 1<<30),
		nodes: r.Ints("nodes", g.nodes, 1, 4096), threads: r.Ints("threads", g.threads, 1, 64),
		rest: point{Steps: g.steps, Fault: g.fault, Costs: r.Word("costs", g.costs, machines.Names()), Vary: g.vary, Seed: g.seed},
	}
	if _, err := machines.Costs("connectx3", g.vary); err != nil {
		r.Fail("%w", err)
	}
	if g.steps < 1 {
		r.Fail("-steps %d: at least one", g.steps)
	}
	if g.fault < 0 {
		r.Fail("-fault %v: nothing or more, such as 5us", g.fault)
	}
	if g.o.jobs < 1 {
		r.Fail("-jobs %d: at least one point at a time", g.o.jobs)
	}
	o := &g.o
	o.points = s.over(f.sweep).over(usual).points()
	o.x, o.y, o.title = cmp.Or(o.x, f.x, "nodes"), cmp.Or(o.y, f.y, "program"), f.doc
	if p, ok := parameterOf(o.x); !ok || p.value == nil {
		r.Fail("-x %s: there are notices, lease, nodes, pes", o.x)
	}
	if _, ok := metricOf(o.y); !ok {
		r.Fail("-y %s: there are %s", o.y, strings.Join(metricNames(), ", "))
	}
	return r.Err
}
