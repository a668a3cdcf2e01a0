// Package startbench measures what the start of a job costs, against its PEs and hosts, and extrapolates it.
//
//	options.go   the command line
//	measure.go   one job: pgasrun starts PEs, which say when they were ready and what they hold
//	pe.go        what such a PE does
//	model.go     a formula for each cost, fitted to the measurements
//	output.go    tables
package startbench

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
)

// Options are what the command line says.
type Options struct {
	pes     []int
	hosts   []int
	rounds  int
	connect bool
	json    bool
	model   []int
	perHost int
	pgasrun string
}

const usage = `DESCRIPTION
  Measure how long a job takes to start, the CPU time of all its processes and what a PE holds, against the number of PEs
  and hosts, and fit a formula to each, to extrapolate.

USAGE
  pgasbench start [flags]

pgasbench starts the jobs itself, with pgasrun. Several hosts are network namespaces of this machine, which need root; each
agent has a session of its own there. Times are medians of the rounds. Memory is the proportional share (Pss) of a PE.

EXAMPLES
  $ pgasbench start                                # 1 to 64 PEs on this host
  $ pgasbench start -pes 16,64,256 -hosts 1,4,16   # on namespaces, too
  $ pgasbench start -pes 16,64 -hosts 4 -connect   # and when every PE has put to every other
  $ pgasbench start -pes 2,8,32,64 -hosts 1,2,8,16 -model 1024,100000 -per-host 64

FLAGS
`

// Help returns what -h prints.
func Help() string {
	var text strings.Builder
	var o Options
	fs, _, _, _ := o.flags()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return usage + text.String()
}

func (o *Options) flags() (fs *flag.FlagSet, pes, hosts, model *string) {
	fs = flags.New("pgasbench start")
	pes = fs.String("pes", "1,2,4,8,16,32,64", "`numbers` of PEs")
	hosts = fs.String("hosts", "1", "`numbers` of hosts")
	model = fs.String("model", "", "fit formulas, and extrapolate to these `numbers` of PEs")
	flags.IntVar(fs, &o.perHost, "per-host", 64, "`PEs` of a host that -model assumes")
	flags.IntVar(fs, &o.rounds, "rounds", 3, "`jobs` of each size")
	flags.BoolVar(fs, &o.connect, "connect", false, "have every PE put to every other one before it says what it holds")
	flags.BoolVar(fs, &o.json, "json", false, "print an object of JSON for each size")
	fs.StringVar(&o.pgasrun, "pgasrun", "pgasrun", "`path` of pgasrun")
	return fs, pes, hosts, model
}

// most bounds the PEs of a job: each is a process of this machine.
const most = 4096

// mostHosts is how many namespaces can be made.
const mostHosts = 200

// Parse reads the command line. The error is flag.ErrHelp, or names a mistake and the remedy.
func Parse(args []string) (*Options, error) {
	o := new(Options)
	fs, pes, hosts, model := o.flags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	var read lists.Reader
	o.pes, o.hosts = read.Ints("pes", *pes, 1, most), read.Ints("hosts", *hosts, 1, mostHosts)
	if *model != "" {
		o.model = read.Ints("model", *model, 1, 1<<20)
	}
	switch {
	case read.Err != nil:
		return nil, read.Err
	case fs.NArg() > 0:
		return nil, fmt.Errorf("%s is not a flag", fs.Arg(0))
	case o.rounds < 1 || o.perHost < 1:
		return nil, errors.New("-rounds and -per-host must be 1 or more")
	case len(o.points()) == 0:
		return nil, fmt.Errorf("-pes %s -hosts %s: no job has a PE for each host", *pes, *hosts)
	case o.model != nil && len(o.points()) <= len(jobTerms):
		return nil, fmt.Errorf("-model needs %d sizes to fit its formulas to: give more -pes, or -hosts", len(jobTerms)+1)
	}
	var err error
	if o.pgasrun, err = exec.LookPath(o.pgasrun); err != nil {
		return nil, fmt.Errorf("there is no pgasrun (%w): `go install ./cmd/pgasrun`, or say where it is with -pgasrun", err)
	}
	return o, nil
}

// size is that of a job.
type size struct{ PEs, Hosts int }

// points returns the sizes to measure: those with a PE for each host.
func (o *Options) points() (all []size) {
	for _, h := range o.hosts {
		for _, p := range o.pes {
			if p >= h {
				all = append(all, size{p, h})
			}
		}
	}
	return all
}
