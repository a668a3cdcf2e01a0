package benchmark

// The command line.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
)

// The names of the versions.
const (
	Sequential = "seq"        // one goroutine
	Goroutines = "goroutines" // goroutines of one process, over the memory of Go
	Coherent   = "dsm"        // goroutines of all PEs, over coherent memory
	PutGet     = "putget"     // PEs, by put, get and collectives
)

type options struct {
	version string
	setup   Setup
}

// parse reads the command line. If it asks for help, help is the text. The error is one line.
func (p *Program) parse(args []string) (o options, help string, err error) {
	var b strings.Builder
	fs := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	fs.SetOutput(&b)
	fs.Usage = func() {}
	fs.StringVar(&o.version, "version", Sequential, "which `version` to run: "+strings.Join(p.names(), ", "))
	fs.StringVar(&o.setup.Class, "class", p.Classes[0], "the size of the problem: a `class` of "+strings.Join(p.Classes, ", "))
	fs.IntVar(&o.setup.Goroutines, "goroutines", 0, "how many goroutines a process runs; 0 is its share of the host's CPUs")
	fs.Func("protocol", "the `protocol` of coherent memory between hosts: "+protocols.Names()+" (default floating)", o.setup.setProtocol)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fs.PrintDefaults()
		return o, p.help() + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case fs.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q; -h lists the flags", fs.Arg(0))
	}
	return o, "", p.check(o)
}

// setProtocol sets the protocol of that name.
func (s *Setup) setProtocol(name string) error {
	p, ok := protocols.Named(name)
	if !ok {
		return fmt.Errorf("there are %s", protocols.Names())
	}
	s.Protocol = p
	return nil
}

// check returns what is wrong with the flags, in one line.
func (p *Program) check(o options) error {
	switch {
	case !slices.Contains(p.names(), o.version):
		return fmt.Errorf("-version %q: there are %s", o.version, strings.Join(p.names(), ", "))
	case !slices.Contains(p.Classes, o.setup.Class):
		return fmt.Errorf("-class %q: there are %s", o.setup.Class, strings.Join(p.Classes, ", "))
	case o.setup.Goroutines < 0:
		return fmt.Errorf("-goroutines %d: give a positive number, or 0 for this process's share of the CPUs", o.setup.Goroutines)
	}
	return nil
}

func (p *Program) names() (all []string) {
	for _, v := range p.Versions {
		all = append(all, v.Name)
	}
	return all
}

// version returns the Version of that name, or a zero one.
func (p *Program) version(name string) (v Version) {
	if i := slices.Index(p.names(), name); i >= 0 {
		v = p.Versions[i]
	}
	return v
}

func (p *Program) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nIt prints whether the result is the published one, the time of the timed part, and millions of operations a second\nas the benchmark counts them. The exit status is 1 if the result is another.\n\nVersions:\n", p.Help)
	for _, v := range p.Versions {
		fmt.Fprintf(&b, "  %-11s %s\n", v.Name, v.Help)
	}
	fmt.Fprintf(&b, "\nExamples:\n  %[1]s -class W\n  %[1]s -version goroutines -class A\n  pgasrun -n 2 %[1]s -version dsm -class A\n\nFlags:\n", p.Name)
	return b.String()
}

// setupFor returns the setup of this PE, which is that of all PEs: the least part of a host's CPUs counts. It is
// collective.
func (o options) setupFor(ctx context.Context, w *pgas.World) (Setup, error) {
	s := o.setup
	var err error
	s.Goroutines, err = pgas.MinValue(ctx, w.Team(), goroutines(s.Goroutines, w.SharedTeam().NPEs()))
	return s, err
}

// goroutines returns asked, or, if that is 0, the part of the CPUs for one of so many processes.
func goroutines(asked, processes int) int {
	if asked > 0 {
		return asked
	}
	return max(1, runtime.GOMAXPROCS(0)/processes)
}
