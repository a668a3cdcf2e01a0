package main

// pgasrun PROGRAM: a job on this host or on several, from its command line to its exit status; and pgasrun plan, which
// says what that would run.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// jobOptions are the command line of a job.
type jobOptions struct {
	placement
	peOptions
	ui      pageFlag
	stats   statsForm
	metrics string
	trace   traceFlag
	pprof   string
	stall   time.Duration
	restart int
	survive int
	least   int // -survive-min

	program string
	args    []string
}

func (o *jobOptions) flags() *flagSet {
	s := newFlags("pgasrun", "`pgasrun -h` lists the flags; flags of the program go after it", retired)
	o.stall = 30 * time.Second
	o.placement.flags(s)
	o.peOptions.flags(s)
	s.value(flagsToSee, &o.ui, "ui", "show what the PEs do while they run on a page at this `address`: auto (a free port), a port, both for this host alone, or host:port; the page's URL is printed. -ui save:FILE saves the page as it is when the job has ended; both may be given")
	s.value(flagsToSee, &o.stats, "stats", "at the end, say what the PEs did, and where they have spent their time: blocked in what, and for which PE. -stats=json prints one JSON object instead of the table; both go to standard error. PGAS_STATS=1 does the same")
	s.text(flagsToSee, &o.metrics, "metrics", "serve what PEs count at this `address` while the job runs, as text for Prometheus; of this machine only, unless a host is named (0.0.0.0:9400)")
	s.value(flagsToSee, &o.trace, "trace", "write what the PEs wait for, on whom and when, to this `file`, which Perfetto opens and pgasrun trace summary reads; .gz compresses it. With FILE,N each PE may record N events (default: 65536, less for each of more than 16 PEs); later ones are counted and dropped")
	s.text(flagsToSee, &o.pprof, "pprof", "write the CPU, heap and mutex profile and the execution trace of each PE to this `directory`, and the CPU profile of the job")
	s.number(flagsForEnd, &o.restart, "restart", "start a job that has failed again, up to `N` times. With -checkpoint it goes on from what it has saved last. Standard input is of the first start, and what other flags write is of the last")
	s.number(flagsForEnd, &o.survive, "survive", "when a PE or a host is lost, kill the other PEs and start all of them again, up to `N` times. The agents stay, and spares of -hosts take the places of hosts. The PEs go on from what they have saved last (package ckpt), which the hosts keep in memory, each image on two hosts if there are several. Standard input is of the first start")
	s.number(flagsForEnd, &o.least, "survive-min", "with -survive, go on without a host that is lost and has no spare, if `N` PEs or more are left. The PEs get new numbers, and what they have saved must allow another number of PEs. Without it such a host is started again")
	s.period(flagsForEnd, &o.stall, "stall", "say what each PE is blocked in, once, if all have waited for `time` and nothing has moved; the job goes on. 0: never")
	return s
}

// parseJob reads the command line of a job.
func parseJob(args []string) (*jobOptions, error) {
	o := new(jobOptions)
	s := o.flags()
	if err := s.parse(args); err != nil {
		return nil, err
	}
	if s.NArg() == 0 {
		return nil, errors.New("no PROGRAM given: `pgasrun -n 4 ./samples/hello` runs four PEs of a Go package, `pgasrun -h` says more")
	}
	o.program, o.args = s.Arg(0), s.Args()[1:]
	if err := o.placement.check(s); err != nil {
		return nil, err
	}
	if o.restart < 0 {
		return nil, fmt.Errorf("-restart %d: give how often a job that has failed is started again, such as 5", o.restart)
	}
	if o.survive < 0 {
		return nil, fmt.Errorf("-survive %d: give how often the PEs are started again when one is lost, such as 20", o.survive)
	}
	if s.given("survive-min") {
		switch {
		case o.least < 1:
			return nil, fmt.Errorf("-survive-min %d: give the least number of PEs with which the job goes on, such as 1", o.least)
		case o.survive == 0:
			return nil, fmt.Errorf("-survive-min %d: the PEs are not started again when a host is lost: add -survive N, such as -survive 20, or leave -survive-min out", o.least)
		}
	}
	if o.survive > 0 && (o.trace != traceFlag{} || o.pprof != "" || o.keepGoing) {
		return nil, errors.New("-survive with -trace, -pprof or -keep-going: these are for PEs that are started once: leave them out, or use -restart")
	}
	return o, o.peOptions.check()
}

// prepare finds the hosts and the program, and checks what can be checked before anything is made. With an error it
// returns the exit status.
func (o *jobOptions) prepare() (p program, spec launch.Spec, status int, err error) {
	hosts, err := o.place()
	if err != nil {
		return p, spec, statusUsage, err
	}
	if len(o.spares) > 0 && o.survive == 0 {
		return p, spec, statusUsage, fmt.Errorf("-hosts +%s: a spare takes the place of a host when the PEs are started again: add -survive N, such as -survive 20, or leave the spare out", o.spares[0].Entry())
	}
	if pes := npes(hosts); o.least > pes {
		return p, spec, statusUsage, fmt.Errorf("-survive-min %d: the job has %s: give the least number with which it goes on, from 1 to %d", o.least, plural.Count(pes, "PE"), pes)
	}
	set, err := checkSettings(o.exported)
	if err != nil {
		return p, spec, statusUsage, err
	}
	if set.Stats && o.stats == noStats {
		o.stats = statsTable
	}
	if _, err := launch.SplitTemplate(o.template); err != nil {
		return p, spec, statusUsage, err
	}
	if p, err = resolve(o.program, o.hosts != ""); err != nil {
		return p, spec, statusFailed, err
	}
	spec = o.spec(hosts, p.path, o.args)
	spec.Stall, spec.Survive, spec.SurviveMin = o.stall, o.survive, o.least
	o.reach(&spec)
	return p, spec, 0, nil
}

// observers are those that the command line asks for.
func (o *jobOptions) observers() (list []observer) {
	add := func(asked bool, w observer) {
		if asked {
			list = append(list, w)
		}
	}
	add(o.output != "", &outputs{dir: o.output, host: everyHost})
	add(o.pprof != "", &profiles{dir: o.pprof, news: os.Stderr})
	add(o.stats != noStats, &statsWriter{o.stats, os.Stderr})
	add(o.ui != pageFlag{}, &jobPage{asked: o.ui, news: os.Stderr})
	add(o.metrics != "", &jobMetrics{addr: o.metrics, news: os.Stderr})
	add(o.trace != traceFlag{}, &jobTrace{asked: o.trace, news: os.Stderr})
	return list
}

// runJob is pgasrun PROGRAM.
func runJob(args []string, _ io.Writer) (int, error) {
	o, err := parseJob(args)
	if err != nil {
		return statusUsage, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	p, spec, status, err := o.prepare()
	if err != nil {
		return status, err
	}
	spec.Signals = signals
	if err := p.build(signals); err != nil {
		return statusFailed, err
	}
	if o.netns != "" {
		remove, err := makeHosts(o.netns, &spec, signals)
		if err != nil {
			return statusFailed, err
		}
		defer remove()
	}
	ctx, cancel := o.context()
	defer cancel()
	return runAgain(o.restart, spec, func(spec launch.Spec) ending {
		return observe(o.observers(), spec, func(s launch.Spec) (launch.Result, error) { return launch.Run(ctx, s) })
	}), nil
}

const planHelp = `pgasrun plan prints what a job would run, and runs nothing.

usage: pgasrun plan [flags] PROGRAM [ARGS]

  pgasrun plan -hosts a:2,b:2 /opt/app           which PE on which host, by which command, with which variables

The flags are those of a job: put plan behind pgasrun in the command line that you have.

`

// planUsage is what -h prints.
func planUsage() string { return planHelp + new(jobOptions).flags().help() }

// runPlan is pgasrun plan.
func runPlan(args []string, out io.Writer) (int, error) {
	o, err := parseJob(args)
	if err != nil {
		return statusUsage, err
	}
	p, spec, status, err := o.prepare()
	if err != nil {
		return status, err
	}
	plan, err := launch.Plan(spec)
	if err != nil {
		return statusUsage, err
	}
	if o.netns != "" {
		fmt.Fprintf(out, "hosts: %d network namespaces, made for the job and removed after it; netns0, … stand for their names\n", len(spec.Hosts))
	}
	if p.pkg != "" {
		fmt.Fprintf(out, "build: %s\n", strings.Join(p.buildCommand(), " "))
	}
	fmt.Fprint(out, plan)
	return 0, nil
}
