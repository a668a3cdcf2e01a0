package main

// pgasrun static: the PEs of this host alone, which join those of the other hosts by themselves.

import (
	"errors"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

const staticHelp = `pgasrun static starts the PEs of this host alone, where something else starts it on every host: pods, systemd, docker compose.

usage: pgasrun static [flags] PROGRAM [ARGS]

  PGAS_HOSTS=a:2,b:2 PGAS_RENDEZVOUS=a:7070 PGAS_SECRET_FILE=secret PGAS_HOST=b pgasrun static ./program
                                                 on host b: PE 2 and PE 3 of four

Its PEs join those of the other hosts as these four variables say (pgasrun env). They have whole lines, signals and one
exit status, but no launcher sees the whole job: there are no statistics, traces or page. docs/use/clusters.md says more.

`

// staticHint explains the flags of a job that are missing here.
const staticHint = "it has the hosts from PGAS_HOSTS, starts no PEs but those of this one, and does not see the whole job; `pgasrun static -h` lists its flags"

// insteadOfStatic says what to do in place of flags of a job that need a launcher.
var insteadOfStatic = map[string]string{
	"pprof":   "set PGAS_PPROF to a directory of this host",
	"metrics": "a program serves its own with package metrics",
	"topo":    retired["topo"],
}

// staticUsage is what -h prints.
func staticUsage() string { return staticHelp + staticFlags(new(peOptions)).help() }

func staticFlags(o *peOptions) *flagSet {
	s := newFlags("pgasrun static", staticHint, insteadOfStatic)
	o.flags(s)
	return s
}

// runStatic is pgasrun static.
func runStatic(args []string, _ io.Writer) (int, error) {
	var o peOptions
	s := staticFlags(&o)
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	if s.NArg() == 0 {
		return statusUsage, errors.New("static: no PROGRAM given: `pgasrun static -h` says more")
	}
	if err := o.check(); err != nil {
		return statusUsage, err
	}
	hosts, index, err := join.StaticPlace(join.NewEnvironment(os.Environ()))
	if err == nil {
		err = launch.CheckHosts(hosts)
	}
	if err == nil {
		_, err = checkSettings(o.exported)
	}
	if err != nil {
		return statusUsage, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	p, err := resolve(s.Arg(0), false)
	if err == nil {
		err = p.build(signals)
	}
	if err != nil {
		return statusFailed, err
	}
	spec := o.spec(hosts, p.path, s.Args()[1:])
	spec.Signals = signals
	var observers []observer
	if o.output != "" {
		observers = []observer{&outputs{dir: o.output, host: index}}
	}
	ctx, cancel := o.context()
	defer cancel()
	end := observe(observers, spec, func(spec launch.Spec) (launch.Result, error) {
		status, err := launch.RunStatic(ctx, launch.StaticSpec{
			Hosts: spec.Hosts, Host: index, Environ: os.Environ(),
			Program: spec.Program, Args: spec.Args, Dir: spec.Dir, Env: spec.Env,
			Stdin: spec.Stdin, Stdout: spec.Stdout, Stderr: spec.Stderr, Tag: spec.Tag, Output: spec.Output,
			Grace: spec.Grace, KeepGoing: spec.KeepGoing, Unbound: spec.Unbound, Signals: spec.Signals, Logf: spec.Logf,
		})
		return launch.Result{Status: status}, err
	})
	return end.status, nil
}
