// Package compare runs pgasbench and the programs of tests/peers in turn, several times in one run, and prints for each
// row of the table of goals: ours, theirs, the ratio, the goal, and whether it is reached.
//
// A machine is never quiet for long, so only ratios within a round count: in each round both sides of a row are
// measured one after the other, and the ratio of the row is the median of all rounds. No absolute time decides
// anything.
//
// row.go says what a row is, and rows.go is the table of goals, which collectives.go, locks.go, mpi.go, kernelrows.go
// and coherent.go complete; kernels.go has the programs of samples. suite.go says what a suite is, and suites.go which
// programs measure which rows; tools.go builds them and makes hosts out of network namespaces; children.go runs them;
// busy.go looks how much of the machine other processes take. figures.go has what came out; floor.go has what the
// machine itself costs, and multiples.go of which part of that cost a row is a multiple; versions.go has the releases
// of the peers; report.go judges and prints; launcher.go runs single programs for package growth.
//
//ci:computes
package compare

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// ErrUsage is in the chain of every error about the command line.
var ErrUsage = errors.New("wrong usage")

// usageError is a mistake on the command line.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == ErrUsage }

func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

type options struct {
	rows   *regexp.Regexp
	rounds int
	point  time.Duration
	limit  time.Duration
	child  time.Duration
	places
	format format
	list   bool
}

const usage = `DESCRIPTION
  Compare pgas with OSHMEM, UCX and the machine's floor, alternating in one run.

USAGE
  pgasbench compare [flags]

The peers are built from tests/peers. What is not installed, or not allowed here (two hosts need root:
they are network namespaces), is reported in its rows and stops nothing else.

EXAMPLES
  $ pgasbench compare                                # operations, starting, memory
  $ pgasbench compare -rows collectives              # collectives, where each is measured
  $ pgasbench compare -rows locks                    # locks, alone and contended
  $ pgasbench compare -rows '^MPI'                   # one-sided operations of Open MPI and of MPICH
  $ pgasbench compare -rows programs                 # the kernels of samples/, against C
  $ pgasbench compare -rows coherent -argodsm DIR    # page faults, against ArgoDSM
  $ pgasbench compare -rows 'same host: 8 B'         # some rows
  $ pgasbench compare -rows '^two hosts' -hosts a,b  # between two namespaces that exist
  $ pgasbench compare -list                          # all rows and their goals

FLAGS
`

// Main runs the subcommand. It returns an error for a mistake (ErrUsage) and for an interrupt (the cause of
// ctx); a row that does not reach its goal is a result.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stdout)
	if err != nil {
		return err
	}
	wanted := choose(o.rows)
	if o.list {
		listRows(stdout, wanted)
		return nil
	}
	jobs := append(jobsOf(wanted), floorJobs(wanted, runtime.NumCPU())...)
	var want needs
	for _, j := range jobs {
		want = want.and(j.needs)
	}
	t, err := newTools(ctx, want, o.places, stderr)
	if err != nil {
		return err
	}
	defer func() {
		if err := t.close(); err != nil {
			fmt.Fprintf(stderr, "pgasbench: left behind: %v\n", err)
		}
	}()
	figures := newFigures()
	figures.cpus = t.cores
	figures.machine, figures.versions = machine(), versions(ctx, t, jobs)
	if err := measureRounds(ctx, t, jobs, o, figures, stderr); err != nil {
		return err
	}
	return report(stdout, wanted, figures, o.format)
}

// printAs returns what a flag does that chooses a format.
func (o *options) printAs(f format) func(string) error {
	return func(string) error {
		o.format = f
		return nil
	}
}

func parse(args []string, help io.Writer) (*options, error) {
	fs := flags.New("compare")
	o := &options{}
	rows := fs.String("rows", "", "rows to measure, a `regexp` on \"group: name\" (-list shows them; without it: those of operations)")
	hosts := fs.String("hosts", "", "two network `namespaces` to use as hosts, or four, divided by commas; without it they are made")
	flags.IntVar(fs, &o.rounds, "rounds", 5, "`times` that each side is measured")
	flags.DurationVar(fs, &o.point, "time", 50*time.Millisecond, "`time` for each point")
	flags.DurationVar(fs, &o.limit, "limit", 270*time.Second, "no round begins that would end after this `time`")
	flags.DurationVar(fs, &o.child, "child", 40*time.Second, "`time` that one program may take")
	fs.StringVar(&o.source, "source", "", "top `directory` of the module (default: found with go list)")
	fs.StringVar(&o.argodsm, "argodsm", "", "`directory` that ArgoDSM was installed in, for the rows of coherent memory")
	fs.BoolFunc("json", "print one JSON object a row", o.printAs(asJSON))
	fs.BoolFunc("markdown", "print a table for a page, with the floor of the machine", o.printAs(asMarkdown))
	flags.BoolVar(fs, &o.list, "list", false, "list the rows and end")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		fs.SetOutput(help)
		fs.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, usageError{err}
	}
	switch {
	case *rows == "" && o.list:
		*rows = "."
	case *rows == "":
		*rows = usual
	}
	return o, o.check(fs.Args(), *rows, *hosts)
}

func (o *options) check(rest []string, rows, hosts string) (err error) {
	if len(rest) > 0 {
		return misuse("unexpected argument %q: rows are chosen with -rows", rest[0])
	}
	if o.rows, err = regexp.Compile(rows); err != nil {
		return misuse("-rows %s: not a regular expression (%v)", rows, err)
	}
	if len(choose(o.rows)) == 0 {
		return misuse("-rows %s: matches no row; -list shows them", rows)
	}
	if o.rounds < 1 || o.rounds > 1000 {
		return misuse("-rounds %d: from 1 to 1000 are possible", o.rounds)
	}
	if o.point <= 0 || o.limit <= 0 || o.child <= 0 {
		return misuse("-time, -limit and -child must be more than nothing, such as 50ms")
	}
	if hosts == "" {
		return nil
	}
	o.hosts = strings.Split(hosts, ",")
	different := slices.Compact(slices.Sorted(slices.Values(o.hosts)))
	if n := len(different); n != len(o.hosts) || n != 2 && n != 4 || different[0] == "" {
		return misuse("-hosts %s: name two different network namespaces, such as a,b, or four", hosts)
	}
	return nil
}

func choose(pattern *regexp.Regexp) []row {
	var wanted []row
	for _, r := range rows {
		if pattern.MatchString(r.group + ": " + r.name) {
			wanted = append(wanted, r)
		}
	}
	return wanted
}

// failuresAllowed: a suite that failed as often is not started again.
const failuresAllowed = 2

// measureRounds runs all jobs once a round, every other round in reverse, so that the first
// side of a row does not always find the machine in the same state. No program runs beyond o.limit.
func measureRounds(ctx context.Context, t *tools, jobs []job, o *options, f *figures, news io.Writer) error {
	over := fmt.Errorf("the run was over after %v", o.limit)
	bounded, cancel := context.WithTimeoutCause(ctx, o.limit, over)
	defer cancel()
	begun := time.Now()
	var longest time.Duration
	for round := range o.rounds {
		start := time.Now()
		if round > 0 && start.Sub(begun)+longest > o.limit {
			fmt.Fprintf(news, "pgasbench: %d of %d rounds fit into %v\n", round, o.rounds, o.limit)
			break
		}
		f.busy = append(f.busy, othersTake(bounded))
		f.rounds = append(f.rounds, map[point]result.Result{})
		for _, j := range jobs {
			if f.tries[j.name] >= failuresAllowed {
				continue
			}
			fmt.Fprintf(news, "pgasbench: round %d of %d: %s\n", round+1, o.rounds, j.says)
			if err := j.measure(bounded, t, o, f.rounds[round]); err != nil {
				f.failed[j.name] = err
				f.tries[j.name]++
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		longest = max(longest, time.Since(start))
		slices.Reverse(jobs)
	}
	return nil
}

// measure runs j once and files its figures.
func (j job) measure(ctx context.Context, t *tools, o *options, into map[point]result.Result) error {
	if err := t.lacks(j.needs); err != nil {
		return err
	}
	out, took, err := runChild(ctx, o.child, j.command(t, o.point))
	if err != nil {
		return fmt.Errorf("%s: %w", j.says, err)
	}
	read := j.read
	if read == nil {
		read = result.Read
	}
	results, err := read(out)
	if err != nil {
		return fmt.Errorf("%s: %w", j.says, err)
	}
	for _, r := range results {
		into[point{j.name, r.Bench, r.Bytes}] = r
	}
	into[point{suite: j.name}] = result.Result{P50ns: float64(took.Nanoseconds())}
	return j.complete(into)
}

// complete returns an error that names a point which the program did not deliver.
func (j job) complete(got map[point]result.Result) error {
	for _, p := range j.points {
		if _, ok := got[p]; !ok {
			return fmt.Errorf("%s: printed no line for %s of %d bytes", j.says, p.bench, p.bytes)
		}
	}
	return nil
}
