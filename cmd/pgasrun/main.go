// Command pgasrun starts a job of PEs on this host or on several, relays what they print, and ends the job
// without leaving a process behind. It is a command line for package launch; see docs/use/pgasrun.md.
//
//ci:race
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasrun/k8s"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/version"
)

// Exit statuses of pgasrun itself. Otherwise it exits with the worst one of the job.
const (
	statusFailed  = 1
	statusUsage   = 2
	statusTimeout = 124 // as timeout(1)
)

// options are those of the command line.
type options struct {
	n              int
	hosts          string
	hostfile       string
	netns          string
	template       string
	bootAddr       string
	tag            bool
	verbose        bool
	dryRun         bool
	env            bool
	version        bool
	keepGoing      bool
	unbound        bool
	stage          bool
	fanOut         int
	topo           string
	exported       assignments
	wdir           string
	output         string
	pprof          string
	trace          string
	traceEvents    int
	ui             string
	uiSave         string
	stats          bool
	metrics        string
	json           bool
	static         bool
	k8s            bool
	job            k8s.Spec
	timeout        time.Duration
	stall          time.Duration
	connectTimeout time.Duration
	grace          time.Duration

	nSet        bool
	templateSet bool
	given       []string // the names of the flags that are
	index       int      // of this host, if static

	program string
	args    []string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "agent" {
		os.Exit(launch.Agent())
	}
	if len(os.Args) > 1 && os.Args[1] == "doctor" {
		os.Exit(runDoctor(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "trace" {
		os.Exit(runTrace(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "version" {
		os.Exit(runVersion(os.Args[2:]))
	}
	if status, done := described().Run(os.Args[1:], os.Stdout, os.Stderr); done {
		os.Exit(status)
	}
	os.Exit(run(os.Args[1:]))
}

// checked is a writer that keeps the error of the first write that fails.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.err = cmp.Or(c.err, err)
	return n, err
}

func run(args []string) int {
	out := &checked{w: os.Stdout} // of pgasrun itself: that of a job is the launcher's to write
	status := runTo(out, args)
	if out.err != nil && status == 0 {
		return complain(out.err, statusFailed)
	}
	return status
}

func runTo(out io.Writer, args []string) int {
	opts, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, help())
		return 0
	}
	if err != nil {
		return complain(err, statusUsage)
	}
	if opts.version {
		fmt.Fprintln(out, "pgasrun", version.Current())
		return 0
	}
	if opts.env {
		return opts.printEnv(out)
	}
	if opts.k8s {
		return opts.printK8s(out)
	}
	hosts, err := opts.place()
	if err != nil {
		return complain(err, statusUsage)
	}
	if err := opts.settings(); err != nil {
		return complain(err, statusUsage)
	}
	if _, err := launch.SplitTemplate(opts.template); err != nil {
		return complain(err, statusUsage)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	program, err := opts.resolve()
	if err != nil {
		return complain(err, statusFailed)
	}
	spec := opts.spec(hosts, program.path)
	spec.Signals = signals
	if opts.dryRun {
		return opts.printPlan(out, program, spec)
	}
	if err := program.build(signals); err != nil {
		return complain(err, statusFailed)
	}
	if opts.netns != "" {
		remove, err := opts.makeHosts(&spec, signals)
		if err != nil {
			return complain(err, statusFailed)
		}
		defer remove()
	}
	return start(opts, spec)
}

func start(opts options, spec launch.Spec) int {
	ctx := context.Background()
	if opts.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, opts.timeout, errTimeout{opts.timeout})
		defer cancel()
	}
	var res launch.Result
	var err error
	if opts.pprof != "" && !opts.static {
		p, openErr := openProfiles(opts.pprof, npes(spec.Hosts), os.Stderr)
		if openErr != nil {
			return complain(openErr, statusFailed)
		}
		spec.Profiles = p.piece
		defer func() {
			p.failed = err != nil
			p.finish()
		}()
	}
	if opts.trace != "" {
		t, openErr := openTrace(opts.trace, spec.Program, os.Stderr)
		if openErr != nil {
			complain(fmt.Errorf("%w; the job runs without a trace", openErr), 0)
		} else {
			spec.Trace, spec.Events = t.piece, eventsOf(opts.traceEvents, npes(spec.Hosts))
			defer func() {
				if err := t.finish(res.Clocks, npes(spec.Hosts)); err != nil {
					complain(err, 0)
				}
			}()
		}
	}
	if opts.metrics != "" {
		m, openErr := openMetrics(opts.metrics, os.Stderr)
		if openErr != nil {
			complain(fmt.Errorf("%w; the job runs without", openErr), 0)
		} else {
			spec.Live = m.serve
			defer m.close()
		}
	}
	var out *outputs
	if opts.output != "" {
		started := spec.Hosts
		if opts.static {
			started = started[opts.index : opts.index+1]
		}
		if out, err = openOutputs(opts.output, spec.Hosts, started); err != nil {
			return complain(err, statusFailed)
		}
		spec.Output = out.piece
	}
	page := openPage(&opts, &spec, os.Stderr)
	if opts.static {
		res.Status, err = launch.RunStatic(ctx, spec, opts.index, os.Environ())
	} else {
		res, err = launch.Run(ctx, spec)
	}
	if res.First != nil && !res.First.AfterUserSignal() {
		fmt.Fprint(os.Stderr, "pgasrun: ", res.First)
	}
	if spec.Stats {
		writeStats(os.Stderr, res.Stats, npes(spec.Hosts), opts.json)
	}
	status := statusOf(res, err)
	if out != nil {
		if lacks := out.close(); lacks != nil {
			status = complain(lacks, max(status, statusFailed))
		}
	}
	if page != nil {
		page.finish(res, status, err)
	}
	if err != nil {
		return complain(err, status)
	}
	return status
}

// statusOf returns the exit status of pgasrun after a job.
func statusOf(res launch.Result, err error) int {
	switch {
	case errors.As(err, new(errTimeout)):
		return statusTimeout
	case err != nil:
		return max(res.Status, statusFailed)
	}
	return res.Status
}

func npes(hosts []boot.Host) (n int) {
	for _, h := range hosts {
		n += h.PEs
	}
	return n
}

// errTimeout is the error of a job that -timeout has ended.
type errTimeout struct{ after time.Duration }

func (e errTimeout) Error() string {
	return fmt.Sprintf("the job has run for %v, the most that -timeout allows; ended it", e.after)
}

func complain(err error, status int) int {
	fmt.Fprintln(os.Stderr, "pgasrun:", err)
	return status
}

// flags declares the flags. help.go says under which heading each stands.
func (o *options) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("pgasrun", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&o.n, "n", 0, "run `N` PEs (default: all slots of the hosts or of Slurm's allocation, or one for each CPU of this host)")
	fs.StringVar(&o.hosts, "hosts", "", "run on these `hosts`: name:PEs,name:PEs; localhost is this one")
	fs.StringVar(&o.hostfile, "hostfile", "", "read the hosts from a `file` with lines of name:PEs")
	fs.StringVar(&o.netns, "netns", "", "make hosts of network namespaces on this machine, run on them and remove them: `HOSTSxPEs` is 2x4 for two hosts with four PEs each; needs root")
	fs.StringVar(&o.template, "launch", launch.DefaultTemplate, "`command` that runs a command on {host}")
	fs.StringVar(&o.bootAddr, "boot-addr", "", "`address` of the first host at which the others find it (default: try all)")
	fs.BoolVar(&o.stage, "stage", false, "copy pgasrun and the program to the cache directory of each host, unless they are there")
	fs.IntVar(&o.fanOut, "fan-out", launch.DefaultFanOut, "start at most `N` agents from one host; of more hosts, some start the others")
	fs.Var(&o.exported, "x", "set a variable of every PE, on every host: `NAME=value`, or NAME for the value that it has here; may be repeated")
	fs.StringVar(&o.wdir, "wdir", "", "`directory` in which the PEs start, on every host (default: this one)")
	fs.StringVar(&o.output, "output", "", "write what each PE prints to a file in this `directory`, too: pe.0.out and so on, on this host")
	fs.BoolVar(&o.tag, "tag", false, "start each line of output with the number of its PE")
	fs.BoolVar(&o.verbose, "v", false, "say each step")
	fs.BoolVar(&o.dryRun, "dry-run", false, "print what would run, and run nothing")
	fs.BoolVar(&o.env, "env", false, "print every variable, its value and where that comes from: default, environment or flag")
	fs.BoolVar(&o.version, "version", false, "print the version")
	fs.BoolVar(&o.unbound, "unbound", false, "let PEs run on any CPU; without it each has CPUs of its own if there are enough")
	fs.StringVar(&o.topo, "topo", "", "the `levels` of the topology from the PEs outwards: host,rack:2 has racks of two hosts")
	fs.BoolVar(&o.stats, "stats", false, "at the end, say what the PEs did, and where they have spent their time: blocked in what, and for which PE; PGAS_STATS=1 does the same")
	fs.StringVar(&o.metrics, "metrics", "", "serve what PEs count at this `address` while the job runs, as text for Prometheus; of this machine only, unless a host is named (0.0.0.0:9400)")
	fs.BoolVar(&o.json, "json", false, "with -stats: print one JSON object instead of the table; both go to standard error")
	fs.StringVar(&o.pprof, "pprof", "", "write the CPU, heap and mutex profile and the execution trace of each PE to this `directory`, and the CPU profile of the job")
	fs.StringVar(&o.trace, "trace", "", "write what the PEs wait for, on whom and when, to this `file`, which Perfetto opens and pgasrun trace summary reads; .gz compresses it")
	fs.IntVar(&o.traceEvents, "trace-events", 0, "with -trace: `N` events that each PE may record (default: 65536, less for each of more than 16 PEs); later ones are counted and dropped")
	fs.StringVar(&o.ui, "ui", "", "show what the PEs do while they run on a page at this `address`: auto (a free port), a port, both for this host alone, or host:port; the page's URL is printed")
	fs.StringVar(&o.uiSave, "ui-save", "", "save that page, as it is when the job has ended, to this `file`")
	fs.BoolVar(&o.static, "static", false, "start the PEs of this host alone, which join those of the other hosts as PGAS_HOSTS, PGAS_HOST, PGAS_RENDEZVOUS and PGAS_SECRET_FILE say: for pods, systemd, docker compose")
	o.k8sFlags(fs)
	fs.BoolVar(&o.keepGoing, "keep-going", false, "end no other PE when one fails: the others compute on, and access memory of those that are left, but whatever has to wait returns the error, so only PEs that do without each other go on")
	fs.DurationVar(&o.timeout, "timeout", 0, "end a job that runs longer than `time`, and say what it hung in")
	fs.DurationVar(&o.stall, "stall", 30*time.Second, "say what each PE is blocked in, once, if all have waited for `time` and nothing has moved; the job goes on. 0: never")
	fs.DurationVar(&o.connectTimeout, "connect-timeout", 30*time.Second, "give up a host that does not answer within `time`")
	fs.DurationVar(&o.grace, "grace", time.Second, "`time` between asking the PEs to end and killing them")
	return fs
}

// parse reads the command line.
func parse(args []string) (options, error) {
	var o options
	fs := o.flags()
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: `pgasrun -h` lists the flags; flags of the program go after it", err)
	}
	fs.Visit(func(f *flag.Flag) {
		o.nSet = o.nSet || f.Name == "n"
		o.templateSet = o.templateSet || f.Name == "launch"
		o.given = append(o.given, f.Name)
	})
	if o.env || o.version {
		return o, nil
	}
	if fs.NArg() == 0 {
		return o, errors.New("no PROGRAM given: `pgasrun -n 4 ./samples/hello` runs four PEs of a Go package, `pgasrun -h` says more")
	}
	if o.json && !o.stats && os.Getenv("PGAS_STATS") == "" {
		return o, errors.New("-json prints statistics: add -stats")
	}
	if o.traceEvents < 0 || o.traceEvents > record.MaxEvents {
		return o, fmt.Errorf("-trace-events %d: it must be from 1 to %d", o.traceEvents, record.MaxEvents)
	}
	if o.wdir != "" {
		dir, err := filepath.Abs(o.wdir)
		if err != nil {
			return o, fmt.Errorf("-wdir %s: %w", o.wdir, err)
		}
		o.wdir = dir
	}
	if o.fanOut < 1 {
		return o, fmt.Errorf("-fan-out %d: it must be 1 or more", o.fanOut)
	}
	if err := o.checkModes(); err != nil {
		return o, err
	}
	o.program, o.args = fs.Arg(0), fs.Args()[1:]
	for name, d := range map[string]time.Duration{"-timeout": o.timeout, "-stall": o.stall, "-connect-timeout": o.connectTimeout, "-grace": o.grace} {
		if d < 0 {
			return o, fmt.Errorf("%s %v is negative", name, d)
		}
	}
	return o, nil
}

func (o *options) spec(hosts []boot.Host, program string) launch.Spec {
	spec := launch.Spec{
		Hosts: hosts, Program: program, Args: o.args, Dir: o.wdir, Env: o.environ(), Tag: o.tag,
		Stdin: stdin(), Stdout: os.Stdout, Stderr: os.Stderr, Terminal: launch.IsTerminal(os.Stderr),
		Template: o.template, Stage: o.stage, FanOut: o.fanOut, BootAddr: o.bootAddr,
		ConnectTimeout: o.connectTimeout, Grace: o.grace, KeepGoing: o.keepGoing, Unbound: o.unbound, Stats: o.stats, Stall: o.stall,
	}
	if o.verbose {
		began := time.Now()
		spec.Logf = func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "pgasrun: %6.3fs %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
	}
	return spec
}

// stdin returns standard input, or nil if reading it would stop pgasrun: a terminal whose foreground is another job.
func stdin() io.Reader {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if err == nil && group != syscall.Getpgrp() {
		return nil
	}
	return os.Stdin
}

// printPlan prints what would run.
func (o *options) printPlan(w io.Writer, p program, spec launch.Spec) int {
	plan, err := launch.Plan(spec)
	if err != nil {
		return complain(err, statusUsage)
	}
	if o.netns != "" {
		fmt.Fprintf(w, "hosts: %d network namespaces, made for the job and removed after it; netns0, … stand for their names\n", len(spec.Hosts))
	}
	if p.pkg != "" {
		fmt.Fprintf(w, "build: %s\n", strings.Join(p.buildCommand(), " "))
	}
	fmt.Fprint(w, plan)
	return 0
}

// settings checks the variables and flags that tune the job.
func (o *options) settings() error {
	set, err := boot.ParseSettings(append(os.Environ(), o.environ()...))
	if err != nil {
		return err
	}
	o.stats = o.stats || set.Stats && !o.static && !o.k8s
	if _, err := topo.Parse(set.Topo); err != nil {
		origin := boot.EnvTopo + "="
		if o.topo != "" {
			origin = "-topo "
		}
		return fmt.Errorf("%s%s: %w", origin, set.Topo, err)
	}
	return nil
}

// environ returns what flags put into the environment of every PE.
func (o *options) environ() []string {
	env := slices.Clone([]string(o.exported))
	if o.topo != "" {
		env = append(env, boot.EnvTopo+"="+o.topo)
	}
	if o.static && o.pprof != "" {
		env = append(env, boot.EnvProfiles+"="+o.pprof)
	}
	return env
}

// printEnv prints the table of variables.
func (o *options) printEnv(w io.Writer) int {
	status := 0
	if err := o.settings(); err != nil {
		status = complain(err, statusUsage)
	}
	if err := boot.PrintVariables(w, os.Environ(), o.environ()); err != nil {
		return complain(err, statusFailed)
	}
	if choice, err := join.ChooseRendezvous(join.NewEnvironment(os.Environ())); err != nil {
		status = complain(err, statusUsage)
	} else {
		fmt.Fprintf(w, "\nA program that starts in this environment without pgasrun joins its job by: %v\n", choice)
	}
	fmt.Fprintf(w, "\nPEs on every host get what is set of %s; on this host they get the whole environment.\n", strings.Join(launch.Forwarded(), ", "))
	return status
}
