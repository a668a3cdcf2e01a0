package lockbench

// The command line: lists of values, of which every combination is a point. What is not said is the
// figure's, if one is named, and then the bench's.

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas/topo"
)

// Options are what the command line says.
type Options struct {
	sweep.Options
	points []config
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
	fs, _ := declareFlags()
	return sweep.Help(usage, fs)
}

// List returns a line for each bench, each lock and each figure.
func List() string {
	return sweep.List("benches (-bench)", 14, benches) + sweep.List("locks (-lock)", 14, compared) +
		sweep.List("figures (-figure)", 14, figures)
}

// given is the flags as they are written.
type given struct {
	o                                      Options
	bench, lock, pes, fw, tdc, tl, tr, tw  string
	remote, local, table, locality, levels string
	topology, atomics                      string
	rounds                                 int
	span                                   time.Duration
}

func declareFlags() (*flag.FlagSet, *given) {
	fs := flags.New("locks")
	g := &given{}
	g.o.Declare(fs, sweep.Texts{
		Simulated: "measure in the simulator, without pgasrun",
		List:      "list benches, locks and figures, and end",
		Figure:    "measure the points of a figure of a paper, by its `name`",
		Nodes:     "with -sim: `numbers` of hosts of one socket, instead of -pes and -topo",
		Threads:   "with -sim: `numbers` of PEs of each of the -nodes",
		X:         "`parameter` along the plot (default the figure's, or pes)",
		Y:         "`metric` up the plot: " + strings.Join(sweep.Names(metrics), ", ") + " (default the figure's, or the bench's)",
		Vary:      "nicatomic=4,gap=0.5",
	})
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
	fs.StringVar(&g.atomics, "atomics", "", "with -sim: `unified` (of CPU and NIC, to each other) or split")
	return fs, g
}

// rules are what a command line must not have.
var rules = sweep.Rules{
	Choose:      "benches are chosen with -bench, locks with -lock",
	OfSimulator: []string{"pes", "topo", "nodes", "threads", "costs", "vary", "atomics", "seed", "jobs"},
	NotOnJob:    "a real job is as pgasrun makes it",
}

// Parse reads the arguments behind "locks". The error is flag.ErrHelp, which asks for Help, or one line about a
// mistake.
func Parse(args []string) (*Options, error) {
	fs, g := declareFlags()
	if err := g.o.Parse(fs, args, rules); err != nil {
		return nil, err
	}
	if g.o.List {
		return &g.o, nil
	}
	return g.options()
}

// options makes points of what is given.
func (g *given) options() (*Options, error) {
	o := &g.o
	f, err := sweep.Chosen(figures, o.Figure)
	if err != nil {
		return nil, err
	}
	s, err := g.grid()
	if err != nil {
		return nil, err
	}
	for _, name := range s.over(f.Grid).over(grid{benches: []string{"ecsb"}}).benches {
		b, _ := sweep.Find(benches, name)
		one := s.over(f.Grid)
		one.benches = []string{name}
		if one, err = g.complete(one.over(b.usual), b); err != nil {
			return nil, err
		}
		o.points = append(o.points, one.points()...)
		o.Y = cmp.Or(o.Y, f.Y, b.y)
	}
	o.X = cmp.Or(o.X, f.X, "pes")
	o.Title = f.Doc
	return o, o.check()
}

// complete sets what only real or only simulated points have, and checks that b takes the locks.
func (g *given) complete(s grid, b bench) (grid, error) {
	o := &g.o
	if len(s.locks) == 0 {
		s.locks = b.locks
	}
	for _, name := range s.locks {
		if k, _ := sweep.Find(compared, name); !b.takes(k) {
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
	if err := o.Check(numericNames(), numericNames(), sweep.Names(metrics)); err != nil {
		return err
	}
	return chart.CheckName(o.Plot)
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

// grid reads the lists.
func (g *given) grid() (s grid, err error) {
	r := lists.Reader{}
	s.benches = r.Words("bench", g.bench, sweep.Names(benches))
	s.locks = r.Words("lock", g.lock, sweep.Names(compared))
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
	s.nodes = r.Ints("nodes", g.o.Nodes, 1, 1<<16)
	s.threads = r.Ints("threads", g.o.Threads, 1, 1<<10)
	if (s.pes != nil || g.topology != "") && (s.nodes != nil || s.threads != nil) {
		r.Fail("-nodes and -threads are instead of -pes and -topo: a host has as many PEs as -threads says")
	}
	if g.topology != "" {
		s.topologies = []string{g.topology}
	}
	s.rest.Costs = r.Word("costs", g.o.Costs, machines.Names())
	if _, err := machines.Costs("aries", g.o.Vary); err != nil {
		r.Fail("%w", err)
	}
	s.rest.Vary = g.o.Vary
	s.rest.Atomics = r.Word("atomics", g.atomics, []string{"unified", "split"})
	s.rest.Seed = g.o.Seed
	s.rest.Rounds, s.rest.Time = g.rounds, g.span
	switch {
	case r.Err != nil:
	case g.rounds < 0:
		r.Err = errors.New("-rounds is more than nothing, such as 1000")
	case g.rounds > 0 && g.span > 0:
		r.Err = errors.New("-rounds and -time: each PE acquires so often, or for so long; give one of them")
	}
	return s, r.Err
}

// over returns s, with what it leaves open as base has it.
func (s grid) over(base grid) grid {
	s.benches, s.locks = sweep.Or(s.benches, base.benches), sweep.Or(s.locks, base.locks)
	if len(s.pes)+len(s.topologies) == 0 {
		s.nodes, s.threads = sweep.Or(s.nodes, base.nodes), sweep.Or(s.threads, base.threads)
	}
	s.pes, s.writers, s.tdc, s.tl = sweep.Or(s.pes, base.pes), sweep.Or(s.writers, base.writers), sweep.Or(s.tdc, base.tdc), sweep.Or(s.tl, base.tl)
	s.tr, s.tw, s.remote, s.local = sweep.Or(s.tr, base.tr), sweep.Or(s.tw, base.tw), sweep.Or(s.remote, base.remote), sweep.Or(s.local, base.local)
	s.tableLocks, s.locality, s.topologies = sweep.Or(s.tableLocks, base.tableLocks), sweep.Or(s.locality, base.locality), sweep.Or(s.topologies, base.topologies)
	r, b := &s.rest, base.rest
	r.Levels = sweep.Or(r.Levels, b.Levels)
	if r.Rounds == 0 && r.Time == 0 {
		r.Rounds, r.Time = b.Rounds, b.Time
	}
	r.Costs, r.Atomics, r.Seed = cmp.Or(r.Costs, b.Costs), cmp.Or(r.Atomics, b.Atomics), cmp.Or(r.Seed, b.Seed)
	return s
}
