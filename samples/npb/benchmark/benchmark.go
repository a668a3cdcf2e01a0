// Package benchmark is the main function of the NAS Parallel Benchmarks of this folder. It reads the command line, runs
// the version that is asked for, and prints whether the result is the published one, and how fast it came.
//
//	benchmark.go  Program, Version, Main
//	flags.go      the command line
//	result.go     Result, Check and the report
package benchmark

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/gopgas/gopgas/pgas"
)

// A Program is one of the benchmarks.
type Program struct {
	Name     string
	Help     string   // what -h prints above the flags
	Classes  []string // the sizes, the smallest first
	Versions []Version
}

// A Version is one way to run a Program. It has either Alone or Job.
type Version struct {
	Name string
	Help string // a line for -h

	// Alone runs in this process.
	Alone func(ctx context.Context, s Setup) (Result, error)
	// Job runs on the PEs of a job. It is collective. The Result of PE 0 counts.
	Job func(ctx context.Context, w *pgas.World, s Setup) (Result, error)
}

// Setup is what the command line asks for.
type Setup struct {
	Class      string
	Goroutines int // of each process, the same in all
}

// Statuses of the process: see Main.
const (
	statusFailed = 1
	statusUsage  = 2
)

// Main runs p as the command line asks. The process ends with status 0 if the result is verified, with 1 if it is not or
// the run fails, and with 2 if the flags are wrong. In a job PE 0 alone prints.
func Main(p *Program) {
	o, help, bad := p.parse(os.Args[1:])
	version := p.version(o.version)
	if bad == nil && help == "" && version.Job == nil {
		os.Exit(p.alone(version, o.setup))
	}
	first, status := true, 0
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		first = w.PE() == 0
		if bad != nil || help != "" {
			return nil
		}
		s, err := o.setupFor(ctx, w)
		if err != nil {
			return err
		}
		r, err := version.Job(ctx, w, s)
		if err == nil && first {
			status = r.report(os.Stdout, p, described(w, version, s), s.Class)
		}
		return err
	})
	switch {
	case !first:
	case bad != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, bad)
		os.Exit(statusUsage)
	case help != "":
		fmt.Print(help)
	}
	os.Exit(status)
}

// alone runs a version of one process and returns the status of the process.
func (p *Program) alone(v Version, s Setup) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s.Goroutines = goroutines(s.Goroutines, 1)
	what := v.Name
	if v.Name != Sequential {
		what = fmt.Sprintf("%s, %s", v.Name, plural(s.Goroutines, "goroutine"))
	}
	r, err := v.Alone(ctx, s)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return statusFailed
	}
	return r.report(os.Stdout, p, what, s.Class)
}

// described returns in words what a version runs on.
func described(w *pgas.World, v Version, s Setup) string {
	job := fmt.Sprintf("%s, %s on %s", v.Name, plural(w.NPEs(), "PE"), plural(len(w.Hosts()), "host"))
	if v.Name != Coherent {
		return job
	}
	return fmt.Sprintf("%s, %s each", job, plural(s.Goroutines, "goroutine"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// report prints r and returns the status of the process.
func (r Result) report(out io.Writer, p *Program, what, class string) int {
	fmt.Fprintf(out, "%s class %s (%s)\n", p.Name, class, what)
	r.print(out)
	if !r.Verified() {
		return statusFailed
	}
	return 0
}
