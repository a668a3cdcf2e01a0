package main

// The variables of a job's environment: -x, which sets them, and pgasrun env, which prints them.

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/topo"
)

// assignments are the values of -x, as NAME=value.
type assignments []string

const usageX = "set a variable of every PE, on every host: `NAME=value`, or NAME for the value that it has here; may be repeated"

// String is that of flag.Value.
func (a *assignments) String() string { return strings.Join(*a, " ") }

// Set adds NAME=value, or NAME with its value in this process's environment. It is that of flag.Value.
func (a *assignments) Set(text string) error {
	name, _, given := strings.Cut(text, "=")
	if name == "" || strings.ContainsAny(text, "\x00") || strings.ContainsAny(name, " \t\n") {
		return fmt.Errorf("it must be NAME or NAME=value")
	}
	if !given {
		value, set := os.LookupEnv(name)
		if !set {
			return fmt.Errorf("%s is not set here: export it, or give it a value, as in -x %s=value", name, name)
		}
		text += "=" + value
	}
	if len(boot.StripEnv([]string{text})) == 0 {
		return fmt.Errorf("%s is what the launcher tells each PE of its place: leave it out", name)
	}
	*a = append(*a, text)
	return nil
}

// checkSettings checks the variables that tune a job: those of this environment, and those of -x, which take
// precedence.
func checkSettings(exported assignments) (boot.Settings, error) {
	set, err := boot.ParseSettings(append(os.Environ(), exported...))
	if err != nil {
		return set, err
	}
	if _, err := topo.Parse(set.Topo); err != nil {
		return set, fmt.Errorf("%s=%s: %w", boot.EnvTopo, set.Topo, err)
	}
	return set, nil
}

const envHelp = `pgasrun env prints every variable that tunes a job, its value, and where that comes from.

usage: pgasrun env [flags]

  pgasrun env                                    a line each: name, value, origin (default, environment, flag), meaning
  pgasrun env | awk '$3 != "default"'            those that are set
  pgasrun env -all                               with those for developers of gopgas

It also says how a program that starts here without pgasrun would join its job, and what PEs on other hosts get.
To run a program that is called env, write pgasrun -- env or pgasrun -n 2 env.

`

// envOptions are the command line of pgasrun env.
type envOptions struct {
	all      bool
	exported assignments
}

func (o *envOptions) flags() *flagSet {
	s := newFlags("pgasrun env", "`pgasrun env -h` lists its flags", retired)
	s.truth(flagsAlone, &o.all, "all", "print the variables for developers, too; without it, only those that are set")
	s.value(flagsAlone, &o.exported, "x", "show what a job with this -x would have: `NAME=value`; may be repeated")
	return s
}

// envUsage is what -h prints.
func envUsage() string { return envHelp + new(envOptions).flags().help() }

// runEnv is pgasrun env.
func runEnv(args []string, out io.Writer) (status int, err error) {
	var o envOptions
	s := o.flags()
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	if s.NArg() > 0 {
		return statusUsage, fmt.Errorf("env %s: it takes flags alone; `pgasrun -- env %[1]s` runs a program that is called env", s.Arg(0))
	}
	if _, err := checkSettings(o.exported); err != nil {
		status = complain(err, statusUsage)
	}
	if err := boot.PrintVariables(out, os.Environ(), o.exported, o.all); err != nil {
		return statusFailed, err
	}
	if choice, err := join.ChooseRendezvous(join.NewEnvironment(os.Environ())); err != nil {
		status = complain(err, statusUsage)
	} else {
		fmt.Fprintf(out, "\nA program that starts in this environment without pgasrun joins its job by: %v\n", choice)
	}
	fmt.Fprintf(out, "\nPEs on every host get what is set of %s; on this host they get the whole environment.\n", strings.Join(launch.Forwarded(), ", "))
	return status, nil
}
