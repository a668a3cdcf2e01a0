package main

// The command line. Every PE parses the same one before it joins the job, so a mistake costs nothing.

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas/topo"
)

const standardSizes = "1,4,8,16,64,256,1k,4k,16k,64k,256k,1m,4m"

type options struct {
	bench *regexp.Regexp
	sizes []int
	plan  result.Plan
	json  bool
	list  bool
	plot  string
	costs bool

	beside int

	simulated bool
	pes       int
	topology  string

	version bool
}

func help() string {
	return `DESCRIPTION
  Measure put, get, atomics, signals, barriers and bandwidth between PEs.

USAGE
  pgasrun -n 2 pgasbench [flags]
  pgasrun -hosts a:1,b:1 pgasbench [flags]
  pgasbench -sim -pes N [flags]     in virtual time, on the machine of the papers
  pgasbench floor [flags]           what the machine itself can do
  pgasbench growth -o DIR [flags]   how cost grows: a page with plots
  pgasbench compare [flags]         ours against OSHMEM and UCX, in one run
  pgasbench locks [flags]           locks as in their papers, in a job or simulated

PE 0 works with the last PE and prints; the others only take part in barriers.

EXAMPLES
  $ pgasrun -n 2 pgasbench                                   # everything, on this host
  $ pgasrun -n 2 pgasbench -bench '^put$' -sizes 8           # one point
  $ pgasrun -n 16 pgasbench -bench barrier                   # more PEs than cores
  $ pgasrun -n 2 pgasbench -json > today.jsonl               # one object a line
  $ pgasrun -n 2 pgasbench -plot latency.svg                 # latency and bandwidth by size
  $ pgasrun -n 8 pgasbench -bench sum -costs                 # CPU time and memory too
  $ pgasrun -n 2 pgasbench -beside 4 -bench 'pingpong|barrier' # while 4 other programs compute
  $ pgasbench -sim -pes 1024 -bench barrier                  # 1,024 simulated PEs, each on a host of its own
  $ pgasrun -netns 2x1 pgasbench -bench 'put|get'              # between two hosts made on this machine, as root

FLAGS
` + flagHelp() + `
A figure is the median of batches; min and p99 are the least batch and the 99th percentile of them.
Ping-pongs count one way. Payloads are checked after every point.

OTHER THINGS TO DO
` + manual.Usage("pgasbench")
}

func flagHelp() string {
	var text strings.Builder
	fs, _, _ := declareFlags()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return text.String()
}

// texts are flags that are parsed further.
type texts struct {
	bench, sizes string
	point        time.Duration
}

func declareFlags() (*flag.FlagSet, *options, *texts) {
	fs := flags.New("pgasbench")
	o, t := &options{}, &texts{}
	fs.StringVar(&t.bench, "bench", ".", "benches to run, a `regexp` on their names (-list shows them)")
	fs.StringVar(&t.sizes, "sizes", standardSizes, "operand `bytes`, 1 to 4m, divided by commas")
	flags.DurationVar(fs, &t.point, "time", 100*time.Millisecond, "`time` for each point")
	flags.BoolVar(fs, &o.json, "json", false, "print one JSON object a line")
	fs.StringVar(&o.plot, "plot", "", "draw latency and bandwidth by size to `file`, .svg or .png")
	flags.BoolVar(fs, &o.costs, "costs", false, "measure CPU time, context switches, bytes between hosts and memory too, for each operation")
	flags.IntVar(fs, &o.beside, "beside", 0, "measure beside a `number` of programs that only compute, on the host of PE 0")
	flags.BoolVar(fs, &o.simulated, "sim", false, "simulate the PEs, without pgasrun")
	flags.IntVar(fs, &o.pes, "pes", 0, "with -sim: `number` of PEs")
	fs.StringVar(&o.topology, "topo", "", "with -sim: `levels` of the machine, as PGAS_TOPO has them, with a count for each (default a host for each PE)")
	flags.BoolVar(fs, &o.list, "list", false, "list the benches and end")
	flags.BoolVar(fs, &o.version, "version", false, "print the version and end")
	return fs, o, t
}

func parseOptions(args []string) (*options, error) {
	fs, o, t := declareFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: benches are chosen with -bench", fs.Arg(0))
	}
	var err error
	if o.bench, err = regexp.Compile(t.bench); err != nil {
		return nil, fmt.Errorf("-bench %s: not a regular expression (%v)", t.bench, err)
	}
	if !slices.ContainsFunc(benches, func(b bench) bool { return o.bench.MatchString(b.name) }) {
		return nil, fmt.Errorf("-bench %s: matches none of %s", t.bench, strings.Join(benchNames(), ", "))
	}
	if o.sizes, err = parseSizes(t.sizes); err != nil {
		return nil, err
	}
	if t.point <= 0 || t.point > time.Hour {
		return nil, fmt.Errorf("-time %v: give each point more than nothing and at most an hour, such as 100ms", t.point)
	}
	if o.beside < 0 || o.beside > mostBeside {
		return nil, fmt.Errorf("-beside %d: give a number of programs from 0 to %d", o.beside, mostBeside)
	}
	o.plan = result.Standard(t.point)
	if err := o.checkSimulated(); err != nil {
		return nil, err
	}
	if o.plot != "" && !strings.HasSuffix(o.plot, ".svg") && !strings.HasSuffix(o.plot, ".png") {
		return nil, fmt.Errorf("-plot %s: the name must end in .svg or .png", o.plot)
	}
	return o, nil
}

// checkSimulated checks what only the simulator has, and makes its plan: time is virtual, and every repetition the
// same.
func (o *options) checkSimulated() error {
	switch {
	case !o.simulated && (o.pes != 0 || o.topology != ""):
		return fmt.Errorf("-pes and -topo are for -sim: a real job is as pgasrun makes it")
	case !o.simulated:
		return nil
	case o.beside != 0:
		return fmt.Errorf("-beside is for real PEs: simulated ones share their CPUs with no other program")
	case os.Getenv("PGAS_PE") != "":
		return fmt.Errorf("-sim simulates all PEs by itself: leave pgasrun away")
	case o.pes < 1 || o.pes > 1<<14:
		return fmt.Errorf("-sim -pes %d: give a number of PEs from 1 to %d", o.pes, 1<<14)
	case o.topology != "":
		if _, err := topo.Parse(o.topology); err != nil {
			return fmt.Errorf("-topo %s: %w", o.topology, err)
		}
	}
	o.plan = result.Plan{Point: time.Microsecond, Short: 20 * time.Microsecond, Long: time.Nanosecond, Least: 3, Most: 3, Tries: 1}
	return nil
}

// parseSizes reads "8,1k,4m".
func parseSizes(text string) ([]int, error) {
	var read lists.Reader
	sizes := read.Sizes("sizes", text, 1, mostBytes)
	return sizes, read.Err
}
