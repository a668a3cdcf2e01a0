// Package growth measures how the cost of every operation grows: against bytes, against PEs, real and simulated,
// against hosts. It writes a page with plots, in which the floor of the machine and OSHMEM stand in the same pictures,
// and which names what grows faster than the logarithm of the number of PEs.
//
//	growth.go    the command: options, the run
//	jobs.go      what is measured, and where
//	records.go   the file of results, from which the page is drawn
//	series.go    the figures of one operation along one axis
//	reasons.go   what may grow faster than log P, and why
//	page.go      the page
//	plots.go     its plots
//
//ci:waits
package growth

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// Options are what the command line says.
type Options struct {
	dir    string
	short  bool
	limit  time.Duration
	child  time.Duration
	source string
	only   *regexp.Regexp
	draw   bool
}

const usage = `DESCRIPTION
  Measure how the time, the CPU time, the bytes between hosts and the memory of every operation grow, and write a page with plots.

USAGE
  pgasbench growth -o directory [flags]

Operations are measured against bytes, against PEs of this host, against hosts (network namespaces, which need root) and against simulated
PEs; the floor of the machine and OSHMEM, where it is installed, stand in the same plots. What grows faster than the logarithm of the number
of PEs is named with the reason, or without one if none is known.

Each result is appended to performance/growth.jsonl in the directory. A run that ends early, by -limit or an interrupt, is continued
by the same command; when all is measured, performance.md and its plots are drawn. To begin anew, remove that file.

EXAMPLES
  $ pgasbench growth -o docs/figures                          # everything: some ten minutes on a machine that does nothing else
  $ pgasbench growth -o docs/figures -limit 40s               # as much as begins within 40 s; again, until it says that all is done
  $ pgasbench growth -o docs/figures -only ^simulated         # only those: virtual time needs no quiet machine
  $ pgasbench growth -o docs/figures -draw                    # draw the page again from the results
  $ pgasbench growth -o /tmp/x -short                         # the same path with tiny sizes, in seconds: its figures mean nothing

FLAGS
`

func declareFlags() (*flag.FlagSet, *Options, *string) {
	fs := flags.New("pgasbench growth")
	o, only := &Options{}, new(string)
	fs.StringVar(&o.dir, "o", "", "`directory` of the page")
	flags.BoolVar(fs, &o.short, "short", false, "tiny sizes and times, to try the command")
	flags.DurationVar(fs, &o.limit, "limit", 0, "no job begins after this `time`; 0: all are done")
	flags.DurationVar(fs, &o.child, "child", 5*time.Minute, "`time` that one job may take")
	fs.StringVar(&o.source, "source", "", "top `directory` of the module (default: found with go list)")
	fs.StringVar(only, "only", ".", "do jobs of these names only, a `regexp` (they are named while they run)")
	flags.BoolVar(fs, &o.draw, "draw", false, "measure nothing: draw the page from the results")
	return fs, o, only
}

// Help returns what -h prints.
func Help() string {
	var text strings.Builder
	fs, _, _ := declareFlags()
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return usage + text.String()
}

// Parse reads the command line. The error is flag.ErrHelp, or names a mistake and the remedy.
func Parse(args []string) (*Options, error) {
	fs, o, only := declareFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q: the directory is said with -o", fs.Arg(0))
	case o.dir == "":
		return nil, errors.New("-o is missing: say in which directory the page is to be, such as -o docs/figures")
	case o.child == 0:
		return nil, errors.New("-child 0s: give a job some time, such as 40s")
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-only %s: not a regular expression (%v)", *only, err)
	}
	return o, nil
}

// file is where results are, below the directory of the page.
func (o *Options) file() string { return filepath.Join(o.dir, folder, "growth.jsonl") }

func (o *Options) plan() plan {
	if o.short {
		return short
	}
	return long
}

// Main measures what is not measured yet, and draws the page if all is. The error names what keeps it from that.
func Main(ctx context.Context, o *Options, stdout, stderr io.Writer) error {
	if err := os.MkdirAll(filepath.Join(o.dir, folder), 0o755); err != nil {
		return err
	}
	r, err := read(o.file())
	if err != nil {
		return err
	}
	if len(r.records) > 0 && r.about.Short != o.short {
		return fmt.Errorf("%s has results of another kind of run (-short): remove it, or choose another directory", o.file())
	}
	all := o.plan().jobs()
	if !o.draw {
		if err := o.measure(ctx, r, all, stderr); err != nil {
			return err
		}
	}
	missing := 0
	for _, j := range all {
		if _, done := r.records[j.name()]; !done {
			missing++
		}
	}
	if missing > 0 {
		fmt.Fprintf(stdout, "%d of %d jobs are done; the same command goes on\n", len(all)-missing, len(all))
		return nil
	}
	unknown, err := r.write(o.dir, all)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s is drawn from %d jobs\n", filepath.Join(o.dir, page), len(all))
	for _, u := range unknown {
		fmt.Fprintf(stdout, "grows faster than log P, and no reason is known: %s\n", u)
	}
	return nil
}

// measure does the jobs that are missing.
func (o *Options) measure(ctx context.Context, r *results, all []job, news io.Writer) error {
	var todo []job
	for _, j := range all {
		if _, done := r.records[j.name()]; !done && o.only.MatchString(j.name()) {
			todo = append(todo, j)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	l, err := compare.NewLauncher(ctx, o.source, mostHosts(todo), slices.ContainsFunc(todo, func(j job) bool { return j.side == oshmem }), news)
	if err != nil {
		return err
	}
	defer func() {
		if err := l.Close(); err != nil {
			fmt.Fprintf(news, "pgasbench: left behind: %v\n", err)
		}
	}()
	if err := o.introduce(ctx, r, l); err != nil {
		return err
	}
	begun := time.Now()
	for i, j := range todo {
		if i > 0 && o.limit > 0 && time.Since(begun) > o.limit { // each run does one at least
			return nil
		}
		fmt.Fprintf(news, "pgasbench: job %d of %d: %s\n", len(all)-len(todo)+i+1, len(all), j.name())
		one := o.run(ctx, l, j)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := appendTo(o.file(), one); err != nil {
			return err
		}
		r.records[one.Job] = one
	}
	return nil
}

func mostHosts(jobs []job) (most int) {
	for _, j := range jobs {
		if j.place.Hosts > 1 {
			most = max(most, j.place.Hosts)
		}
	}
	return most
}

// introduce writes the first line of a new file, and refuses one of another machine.
func (o *Options) introduce(ctx context.Context, r *results, l *compare.Launcher) error {
	here := about{Machine: compare.Machine(), CPUs: runtime.NumCPU(), Peer: l.Versions(ctx), Commit: commit(ctx, o.source), Date: time.Now().UTC().Format("January 2006"), Short: o.short}
	if r.about.Machine == "" {
		r.about = here
		return appendTo(o.file(), here)
	}
	if r.about.Machine != here.Machine {
		return fmt.Errorf("%s is of another machine (%s): a page has figures of one; remove it, or choose another directory", o.file(), r.about.Machine)
	}
	return nil
}

func commit(ctx context.Context, dir string) string {
	c := exec.CommandContext(ctx, "git", "rev-parse", "--short=7", "HEAD")
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// run does one job. A job that fails is recorded with the reason.
func (o *Options) run(ctx context.Context, l *compare.Launcher, j job) record {
	var all []result.Result
	var err error
	flags := j.flags(o.plan().point)
	switch {
	case j.side == ground:
		all, err = l.Floor(ctx, o.child, j.place, flags...)
	case j.side == oshmem:
		all, err = l.OSHMEM(ctx, o.child, j.place, flags...)
	case j.axis == againstSimulated:
		args := append([]string{"-json", "-costs", "-sim", "-pes", fmt.Sprint(j.place.PEs)}, flags...)
		if j.spread != "" {
			args = append(args, "-topo", j.spread)
		}
		all, err = l.Alone(ctx, o.child, args...)
	default:
		all, err = l.Ours(ctx, o.child, j.place, append(flags, "-costs")...)
	}
	if err != nil {
		return record{Job: j.name(), Failed: err.Error()}
	}
	for i := range all {
		all[i] = short4(all[i])
	}
	return record{Job: j.name(), Results: all}
}

// short4 rounds what is kept to four digits, so that the file stays small.
func short4(r result.Result) result.Result {
	for _, v := range []*float64{&r.P50ns, &r.MinNs, &r.P99ns, &r.MBps, &r.Mops, &r.RssKB, &r.PssKB, &r.CPUns, &r.Switches, &r.WireBytes, &r.WaitP50ns, &r.MaxNs} {
		*v = round(*v)
	}
	return r
}
