package versions

// The command line: the flags of every program, and those of the program itself.

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/topo"
)

// machines are the costs that -machine names.
var machines = map[string]sim.Costs{"aries": sim.Aries, "connectx3": sim.ConnectX3, "mt25208": sim.MT25208}

type options struct {
	modes     []Mode
	runs      int
	json      bool
	simulated bool
	pes       []int
	machine   string
	topology  string
	seed      uint64
}

// The rounds without -runs. The simulator gives the same result in each.
const realRuns, simulatedRuns = 9, 1

func (o *options) runsOf(simulated bool) int {
	switch {
	case o.runs != 0:
		return o.runs
	case simulated:
		return simulatedRuns
	}
	return realRuns
}

const mostRuns, mostPEs = 1_000_000, 1 << 14

// parse reads the command line. If it asks for help, text is the help.
func (p *Program) parse(args []string) (o *options, text string, err error) {
	var b strings.Builder
	var mode, pes string
	o = &options{}
	fs := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	fs.SetOutput(&b)
	fs.Usage = func() {}
	fs.StringVar(&mode, "mode", "all", "`which` way, or several divided by commas: "+p.modeNames()+", or all")
	fs.IntVar(&o.runs, "runs", 0, "`rounds` of each mode, of which the median counts (default 9, and 1 with -sim)")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line")
	fs.BoolVar(&o.simulated, "sim", false, "simulate the PEs, without pgasrun")
	fs.StringVar(&pes, "pes", p.PEs, "with -sim: `numbers` of PEs")
	fs.StringVar(&o.machine, "machine", "aries", "with -sim: what operations cost, on `which` machine: "+strings.Join(machineNames(), ", "))
	fs.StringVar(&o.topology, "topo", "", "with -sim: `levels` of the machine, as PGAS_TOPO has them, with a count for each (default a host for each PE)")
	fs.Uint64Var(&o.seed, "seed", 1, "with -sim: `number` from which all random ones follow")
	p.Flags(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fs.PrintDefaults()
		return o, p.Help + p.modeHelp() + "\nflags:\n" + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case fs.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q; -h lists the flags", fs.Arg(0))
	case o.runs < 0 || o.runs > mostRuns:
		return o, "", fmt.Errorf("-runs %d: give a number from 1 to %d", o.runs, mostRuns)
	}
	if o.modes, err = p.modesOf(mode); err != nil {
		return o, "", err
	}
	return o, "", p.checkSimulated(o, fs, pes)
}

func machineNames() []string { return slices.Sorted(maps.Keys(machines)) }

func (p *Program) modeNames() string {
	names := make([]string, len(p.Modes))
	for i, m := range p.Modes {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// modeHelp returns a line for each mode.
func (p *Program) modeHelp() string {
	var b strings.Builder
	b.WriteString("modes:\n")
	for _, m := range p.Modes {
		fmt.Fprintf(&b, "  %-10s %s\n", m.Name, m.Means)
	}
	return b.String()
}

// modesOf returns the modes that list names, in the order of the program: "messages,notify", or "all".
func (p *Program) modesOf(list string) (modes []Mode, err error) {
	if list == "all" {
		return p.Modes, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.ContainsFunc(p.Modes, func(m Mode) bool { return m.Name == name }) {
			return nil, fmt.Errorf("-mode %s: there is no mode %q: give %s or all", list, name, p.modeNames())
		}
	}
	for _, m := range p.Modes {
		if slices.Contains(names, m.Name) {
			modes = append(modes, m)
		}
	}
	return modes, nil
}

// checkSimulated checks the flags of -sim, and that none of them is given without -sim.
func (p *Program) checkSimulated(o *options, fs *flag.FlagSet, pes string) (err error) {
	if !o.simulated {
		fs.Visit(func(f *flag.Flag) {
			if slices.Contains([]string{"pes", "machine", "topo", "seed"}, f.Name) {
				err = fmt.Errorf("-%s is for -sim: a real job is as pgasrun makes it", f.Name)
			}
		})
		return err
	}
	if os.Getenv("PGAS_PE") != "" {
		return errors.New("-sim simulates all PEs by itself: leave pgasrun away")
	}
	if _, known := machines[o.machine]; !known {
		return fmt.Errorf("-machine %s: give one of %s", o.machine, strings.Join(machineNames(), ", "))
	}
	if o.topology != "" {
		if _, err := topo.Parse(o.topology); err != nil {
			return fmt.Errorf("-topo %s: %w", o.topology, err)
		}
	}
	for number := range strings.SplitSeq(pes, ",") {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > mostPEs {
			return fmt.Errorf("-pes %s: give numbers from 1 to %d, divided by commas", pes, mostPEs)
		}
		if err := p.Check(n); err != nil {
			return err
		}
		o.pes = append(o.pes, n)
	}
	return nil
}
