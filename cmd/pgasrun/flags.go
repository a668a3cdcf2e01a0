package main

// The flags of a command line: under headings, in the order in which they are declared, and with a remedy for each
// mistake. A spelling that earlier versions had is answered with the one of today.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
)

// retired are the flags that earlier versions had, with what to write today.
var retired = map[string]string{
	"k8s":             "write `pgasrun k8s -image IMAGE -n 4 PROGRAM`, which prints the objects; `pgasrun k8s -h` says more",
	"static":          "write `pgasrun static PROGRAM`; `pgasrun static -h` says more",
	"env":             "write `pgasrun env`",
	"version":         "write `pgasrun version`",
	"dry-run":         "write `pgasrun plan` and the flags of the job",
	"json":            "write -stats=json",
	"ui-save":         "write -ui save:FILE",
	"trace-events":    "write -trace FILE,N",
	"hostfile":        "write -hosts @FILE",
	"topo":            "set the variable PGAS_TOPO, here or by -x PGAS_TOPO=host,rack:2",
	"connect-timeout": "set the variable PGAS_BOOT_TIMEOUT, as in PGAS_BOOT_TIMEOUT=1m",
	"k8s-image":       "write `pgasrun k8s -image IMAGE`",
	"k8s-pods":        "write `pgasrun k8s -pods N`",
	"k8s-name":        "write `pgasrun k8s -name NAME`",
	"k8s-namespace":   "write `pgasrun k8s -namespace NAMESPACE`",
	"k8s-cpu":         "write `pgasrun k8s -cpu CPUS`",
	"k8s-memory":      "write `pgasrun k8s -memory MEMORY`",
	"k8s-queue":       "write `pgasrun k8s -queue QUEUE`",
	"k8s-jobset":      "write `pgasrun k8s -jobset`",
	"k8s-pull":        "write `pgasrun k8s -pull Always`",
}

// flagSet is the flags of pgasrun or of a subcommand.
type flagSet struct {
	flag.FlagSet
	hint    string            // a hint behind the error about a flag that does not exist
	instead map[string]string // what to write in place of a flag that does not exist
	groups  []flagGroup
}

// flagsAlone is the heading of a subcommand that has few flags.
const flagsAlone = "flags"

// flagGroup is the flags under one heading of -h.
type flagGroup struct {
	heading string
	names   []string
}

// newFlags returns an empty set.
func newFlags(command, hint string, instead map[string]string) *flagSet {
	s := &flagSet{hint: hint, instead: instead}
	s.Init(command, flag.ContinueOnError)
	s.SetOutput(io.Discard)
	return s
}

// value declares a flag under a heading.
func (s *flagSet) value(heading string, v flag.Value, name, usage string) {
	s.Var(v, name, usage)
	i := slices.IndexFunc(s.groups, func(g flagGroup) bool { return g.heading == heading })
	if i < 0 {
		i, s.groups = len(s.groups), append(s.groups, flagGroup{heading: heading})
	}
	s.groups[i].names = append(s.groups[i].names, name)
}

func (s *flagSet) text(heading string, p *string, name, usage string) {
	s.value(heading, (*flags.Text)(p), name, usage)
}

func (s *flagSet) truth(heading string, p *bool, name, usage string) {
	s.value(heading, (*flags.Bool)(p), name, usage)
}

func (s *flagSet) number(heading string, p *int, name, usage string) {
	s.value(heading, (*flags.Int)(p), name, usage)
}

func (s *flagSet) period(heading string, p *time.Duration, name, usage string) {
	s.value(heading, (*flags.Duration)(p), name, usage)
}

// parse reads the flags of args. The error is flag.ErrHelp, or one line with the remedy.
func (s *flagSet) parse(args []string) error {
	err := s.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown && s.instead[name] != "" {
		return fmt.Errorf("%s has no -%s: %s", s.Name(), name, s.instead[name])
	}
	return fmt.Errorf("%w: %s", err, s.hint)
}

// given reports whether the command line has a flag.
func (s *flagSet) given(name string) (is bool) {
	s.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// help returns the flags as -h prints them.
func (s *flagSet) help() string {
	var b strings.Builder
	for i, g := range s.groups {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(g.heading + ":\n")
		for _, name := range g.names {
			f := s.Lookup(name)
			one := flag.NewFlagSet("", flag.ContinueOnError) // package flag prints a set by the names of its flags
			one.SetOutput(&b)
			one.Var(f.Value, f.Name, f.Usage)
			one.PrintDefaults()
		}
	}
	return b.String()
}
