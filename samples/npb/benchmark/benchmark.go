// Package benchmark is the main function of the NAS Parallel Benchmarks of this folder. It reads the command line, runs
// the version that is asked for, and prints whether the result is the published one, and how fast it came.
//
//	benchmark.go  Program, Version, Main
//	flags.go      the command line
//	result.go     Result, Check and the report
//
//ci:norace
package benchmark

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gopgas/gopgas/internal/protocols"
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
	Goroutines int                // of each process, the same in all
	Protocol   protocols.Protocol // of coherent memory
}

// Statuses of the process: see Main.
const (
	statusFailed = 1
	statusUsage  = 2
)

// Main runs p as the command line asks. The process ends with status 0 if the result is verified, with 1 if it is not
// or the run fails, and with 2 if the flags are wrong. In a job PE 0 alone prints.
func Main(p *Program) {
	o, help, bad := p.parse(os.Args[1:])
	version := p.version(o.version)
	if version.Job == nil {
		os.Setenv("PGAS_QUIET_SINGLETON", "1") // this is no job, so the hint how to start one would mislead
	}
	first, status := true, 0
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		first = w.PE() == 0
		if bad == nil && help == "" && version.Job == nil && w.NPEs() > 1 {
			bad = fmt.Errorf("-version %s runs in one process, and this is a job of %d: start it without pgasrun, or choose another version (-h lists them)", version.Name, w.NPEs())
		}
		if bad != nil || help != "" {
			return nil
		}
		r, s, err := version.run(ctx, w, o)
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

// run runs v on the PEs of w, and returns the setup that it chose.
func (v Version) run(ctx context.Context, w *pgas.World, o options) (Result, Setup, error) {
	s, err := o.setupFor(ctx, w)
	if err != nil {
		return Result{}, s, err
	}
	var r Result
	if v.Job != nil {
		r, err = v.Job(protocols.With(ctx, protocols.Choice{Protocol: s.Protocol}), w, s)
	} else {
		r, err = v.Alone(ctx, s)
	}
	return r, s, err
}

// described returns in words what a version runs on.
func described(w *pgas.World, v Version, s Setup) string {
	job := fmt.Sprintf("%s, %s on %s", v.Name, plural(w.NPEs(), "PE"), plural(len(w.Hosts()), "host"))
	switch v.Name {
	case Sequential:
		return v.Name
	case Goroutines:
		return fmt.Sprintf("%s, %s", v.Name, plural(s.Goroutines, "goroutine"))
	case Coherent:
		return fmt.Sprintf("%s, %s each", job, plural(s.Goroutines, "goroutine"))
	}
	return job
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
