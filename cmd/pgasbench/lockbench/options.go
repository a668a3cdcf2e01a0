package lockbench

// The command line: lists of values, of which every combination is a point. What is not said is the
// figure's, if one is named, and then the bench's.

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
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas/topo"
)

// Options are what the command line says.
type Options struct {
	Simulated bool // measure with Simulate, and otherwise with Run
	List      bool // print List, and end

	points []config
	jobs   int
	json   bool
	plot   string
	title  string
	x, y   string
}

const usage = `DESCRIPTION
  Measure locks as their papers do, on the PEs of a job or in the simulator.

USAGE
  pgasrun -n 8 pgasbench locks [flags]
  pgasbench locks -sim [flags]

Flags that name several values measure every combination of them. What a lock has no use for, such as the
part of writers where there are no readers, is not varied.

EXAMPLES
  $ pgasrun -n 8 pgasbench locks -bench ecsb                # all locks of the bench, on this host
  $ pgasrun -n 8 pgasbench locks -lock D-MCS,N-CoSED        # these locks
  $ pgasbench locks -sim -pes 16,64,256 -lock RMA-MCS,D-MCS # the same code, on a machine that is simulated
  $ pgasbench locks -sim -lock RMA-RW -fw 0.2,2,20 -tr 1000,5000
  $ pgasbench locks -sim -figure mcs-lb -plot fig3a.svg     # a figure of the paper
  $ pgasbench locks -list                                   # benches, locks and figures

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

// List returns a line for each bench, each lock and each figure.
func List() string {
	var text strings.Builder
	text.WriteString("benches (-bench)\n")
	for _, b := range benches {
		fmt.Fprintf(&text, "  %-14s %s\n", b.name, b.doc)
	}
	text.WriteString("locks (-lock)\n")
	for _, k := range compared {
		fmt.Fprintf(&text, "  %-14s %s\n", k.Name, k.Doc)
	}
	text.WriteString("figures (-figure)\n")
	for _, f := range figures {
		fmt.Fprintf(&text, "  %-14s %s\n", f.name, f.doc)
	}
	return text.String()
}

// given is the flags as they are written.
type given struct {
	o                                      Options
	figure                                 string
	bench, lock, pes, fw, tdc, tl, tr, tw  string
	remote, local, table, locality, levels string
	nodes, threads                         string
	topology, costs, vary, atomics         string
	rounds                                 int
	span                                   time.Duration
	seed                                   uint64
}

func declareFlags() (*flag.FlagSet, *given) {
	fs := flags.New("locks")
	g := &given{}
	flags.BoolVar(fs, &g.o.Simulated, "sim", false, "measure in the simulator, without pgasrun")
	flags.BoolVar(fs, &g.o.List, "list", false, "list benches, locks and figures, and end")
	fs.StringVar(&g.figure, "figure", "", "measure the points of a figure of a paper, by its `name`")
	fs.StringVar(&g.bench, "bench", "", "`benches` to run, divided by commas (default ecsb)")
	fs.StringVar(&g.lock, "lock", "", "`locks` to compare (default those of the bench)")
	fs.StringVar(&g.pes, "pes", "", "with -sim: `numbers` of PEs")
	fs.StringVar(&g.fw, "fw", "", "F_W: `percentages` of acquisitions that write")
	fs.StringVar(&g.tdc, "tdc", "", "T_DC: `numbers` of PEs for each counter of RMA-RW (default those of a host)")
	fs.StringVar(&g.tl, "tl", "", "T_L: `lists` of a threshold for each level, the machine first: 20:50,40:25")
	fs.StringVar(&g.tr, "tr", "", "T_R: `numbers` of readers that enter at a counter while a writer waits")
	fs.StringVar(&g.tw, "tw", "", "T_W: `numbers` of writers in a row before readers")
	fs.StringVar(&g.remote, "remote", "", "`numbers`: the remote budget of ALock")
	fs.StringVar(&g.local, "local", "", "`numbers`: the local budget of ALock")
	fs.StringVar(&g.table, "table", "", "`numbers` of locks of a lock table")
	fs.StringVar(&g.locality, "locality", "", "`percentages` of acquisitions that are near, in a lock table")
	fs.StringVar(&g.levels, "levels", "", "`levels` of the topology for RMA-MCS and RMA-RW, such as host,socket (default host with -sim, and all otherwise)")
	flags.IntVar(fs, &g.rounds, "rounds", 0, "acquisitions of each PE, `times` (default with -sim: enough)")
	flags.DurationVar(fs, &g.span, "time", 0, "or for how `long` each PE acquires (default without -sim: 300ms)")
	fs.StringVar(&g.topology, "topo", "", "with -sim: the `machine`, as PGAS_TOPO has it, with a count for each level")
	fs.StringVar(&g.nodes, "nodes", "", "with -sim: `numbers` of hosts of one socket, instead of -pes and -topo")
	fs.StringVar(&g.threads, "threads", "", "with -sim: `numbers` of PEs of each of the -nodes")
	fs.StringVar(&g.costs, "costs", "", "with -sim: what operations cost, on a `machine`: "+strings.Join(machines.Names(), ", "))
	fs.StringVar(&g.vary, "vary", "", "with -sim: costs of the machine that are `multiplied`, such as nicatomic=4,gap=0.5")
	fs.StringVar(&g.atomics, "atomics", "", "with -sim: `unified` (of CPU and NIC, to each other) or split")
	flags.Uint64Var(fs, &g.seed, "seed", 1, "with -sim: `number` from which all random ones follow")
	flags.IntVar(fs, &g.o.jobs, "jobs", runtime.GOMAXPROCS(0), "with -sim: `points` at a time")
	flags.BoolVar(fs, &g.o.json, "json", false, "print one JSON object a line")
	fs.StringVar(&g.o.plot, "plot", "", "draw a plot to `file`, .svg or .png")
	fs.StringVar(&g.o.x, "x", "", "`parameter` along the plot (default the figure's, or pes)")
	fs.StringVar(&g.o.y, "y", "", "`metric` up the plot: "+strings.Join(metricNames(), ", ")+" (default the figure's, or the bench's)")
	return fs, g
}

// Parse reads the arguments behind "locks". The error is flag.ErrHelp, which asks for Help, or one line about a
// mistake.
func Parse(args []string) (*Options, error) {
	fs, g := declareFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: benches are chosen with -bench, locks with -lock", fs.Arg(0))
	}
	if g.o.List {
		return &g.o, nil
	}
	var wrong error
	fs.Visit(func(f *flag.Flag) {
		if !g.o.Simulated && slices.Contains([]string{"pes", "topo", "nodes", "threads", "costs", "vary", "atomics", "seed", "jobs"}, f.Name) {
			wrong = fmt.Errorf("-%s is for -sim: a real job is as pgasrun makes it", f.Name)
		}
	})
	if g.o.Simulated && os.Getenv("PGAS_PE") != "" {
		wrong = errors.New("-sim simulates all PEs by itself: leave pgasrun away")
	}
	if wrong != nil {
		return nil, wrong
	}
	return g.options()
}

// options makes points of what is given.
func (g *given) options() (*Options, error) {
	o := &g.o
	f, err := g.chosen()
	if err != nil {
		return nil, err
	}
	s, err := g.sweep()
	if err != nil {
		return nil, err
	}
	for _, name := range s.over(f.sweep).over(sweep{benches: []string{"ecsb"}}).benches {
		b, _ := benchOf(name)
		one := s.over(f.sweep)
		one.benches = []string{name}
		if one, err = g.complete(one.over(b.usual), b); err != nil {
			return nil, err
		}
		o.points = append(o.points, one.points()...)
		o.y = cmp.Or(o.y, f.y, b.y)
	}
	o.x = cmp.Or(o.x, f.x, "pes")
	o.title = f.doc
	return o, o.check()
}

// chosen returns the figure that is named, if one is.
func (g *given) chosen() (figure, error) {
	if g.figure == "" {
		return figure{}, nil
	}
	f, ok := figureOf(g.figure)
	if !ok {
		return f, fmt.Errorf("-figure %s: there is none of that name; there are %s", g.figure, strings.Join(figureNames(), ", "))
	}
	return f, nil
}

// complete sets what only real or only simulated points have, and checks that b takes the locks.
func (g *given) complete(s sweep, b bench) (sweep, error) {
	o := &g.o
	if len(s.locks) == 0 {
		s.locks = b.locks
	}
	for _, name := range s.locks {
		if k, _ := kindOf(name); !b.takes(k) {
			return s, fmt.Errorf("-bench %s does not measure %s: it compares %s", b.name, name, strings.Join(b.locks, ", "))
		}
	}
	s.rest.Simulated = o.Simulated
	if o.Simulated {
		return s, nil
	}
	if g.rounds == 0 && g.span == 0 {
		s.rest.Rounds, s.rest.Time = 0, 300*time.Millisecond // what is usual is virtual
	}
	s.pes, s.topologies, s.nodes, s.threads = nil, nil, nil, nil
	s.rest.Levels = (&lists.Reader{}).Names(g.levels)
	s.rest.Costs, s.rest.Atomics, s.rest.Seed = "", "", 0
	return s, nil
}

// check checks the points and the plot.
func (o *Options) check() error {
	for i := range o.points {
		c := &o.points[i]
		if c.Simulated {
			if c.Rounds == 0 && c.Time == 0 {
				c.Rounds = roundsFor(*c)
			}
			if _, err := topo.Parse(c.Topology); err != nil {
				return fmt.Errorf("-topo %s: %w", c.Topology, err)
			}
		}
	}
	if o.jobs < 1 {
		return fmt.Errorf("-jobs %d: at least one point at a time", o.jobs)
	}
	if x, ok := parameterOf(o.x); !ok || x.value == nil {
		return fmt.Errorf("-x %s: there are %s", o.x, strings.Join(numericNames(), ", "))
	}
	if _, ok := metricOf(o.y); !ok {
		return fmt.Errorf("-y %s: there are %s", o.y, strings.Join(metricNames(), ", "))
	}
	return chart.CheckName(o.plot)
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

// pointsFor returns the points for a job of npes PEs.
func (o *Options) pointsFor(npes int) []config {
	points := slices.Clone(o.points)
	for i := range points {
		points[i].PEs = npes
	}
	return points
}

// sweep reads the lists.
func (g *given) sweep() (s sweep, err error) {
	r := lists.Reader{}
	s.benches = r.Words("bench", g.bench, benchNames())
	s.locks = r.Words("lock", g.lock, kindNames())
	s.pes = r.Ints("pes", g.pes, 1, 1<<16)
	s.writers = r.Parts("fw", g.fw)
	s.tdc = r.Ints("tdc", g.tdc, 1, 1<<16)
	s.tl = r.Lists("tl", g.tl, locks.MaxLevels)
	s.tr = r.Ints("tr", g.tr, 1, 1<<30-1)
	s.tw = r.Ints("tw", g.tw, 1, 1<<20-1)
	s.remote = r.Ints("remote", g.remote, 1, 1<<30)
	s.local = r.Ints("local", g.local, 1, 1<<30)
	s.tableLocks = r.Ints("table", g.table, 1, 1<<20)
	s.locality = r.Parts("locality", g.locality)
	s.rest.Levels = r.Names(g.levels)
	s.nodes = r.Ints("nodes", g.nodes, 1, 1<<16)
	s.threads = r.Ints("threads", g.threads, 1, 1<<10)
	if (s.pes != nil || g.topology != "") && (s.nodes != nil || s.threads != nil) {
		r.Fail("-nodes and -threads are instead of -pes and -topo: a host has as many PEs as -threads says")
	}
	if g.topology != "" {
		s.topologies = []string{g.topology}
	}
	s.rest.Costs = r.Word("costs", g.costs, machines.Names())
	if _, err := machines.Costs("aries", g.vary); err != nil {
		r.Fail("%w", err)
	}
	s.rest.Vary = g.vary
	s.rest.Atomics = r.Word("atomics", g.atomics, []string{"unified", "split"})
	s.rest.Seed = g.seed
	s.rest.Rounds, s.rest.Time = g.rounds, g.span
	switch {
	case r.Err != nil:
	case g.rounds < 0 || g.span < 0:
		r.Err = errors.New("-rounds and -time are more than nothing, such as 1000 or 100ms")
	case g.rounds > 0 && g.span > 0:
		r.Err = errors.New("-rounds and -time: each PE acquires so often, or for so long; give one of them")
	}
	return s, r.Err
}

// over returns s, with what it leaves open as base has it.
func (s sweep) over(base sweep) sweep {
	s.benches, s.locks = or(s.benches, base.benches), or(s.locks, base.locks)
	if len(s.pes)+len(s.topologies) == 0 {
		s.nodes, s.threads = or(s.nodes, base.nodes), or(s.threads, base.threads)
	}
	s.pes, s.writers, s.tdc, s.tl = or(s.pes, base.pes), or(s.writers, base.writers), or(s.tdc, base.tdc), or(s.tl, base.tl)
	s.tr, s.tw, s.remote, s.local = or(s.tr, base.tr), or(s.tw, base.tw), or(s.remote, base.remote), or(s.local, base.local)
	s.tableLocks, s.locality, s.topologies = or(s.tableLocks, base.tableLocks), or(s.locality, base.locality), or(s.topologies, base.topologies)
	r, b := &s.rest, base.rest
	r.Levels = or(r.Levels, b.Levels)
	if r.Rounds == 0 && r.Time == 0 {
		r.Rounds, r.Time = b.Rounds, b.Time
	}
	r.Costs, r.Atomics, r.Seed = cmp.Or(r.Costs, b.Costs), cmp.Or(r.Atomics, b.Atomics), cmp.Or(r.Seed, b.Seed)
	return s
}
