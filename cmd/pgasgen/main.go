// Pgasgen turns annotated structs into typed accessors for the symmetric heap and for coherent arrays.
//
// It finds the structs under the line //pgas:symmetric or //pgas:coherent, checks that they can live in such memory,
// and writes FILE_pgas.go beside each FILE.go that declares some. docs/use/pgasgen.md says what it
// generates for each kind of field.
//
// The path of a run is the order of the files: load.go finds and type-checks packages, parse.go and
// tag.go read what is written on structs and fields, analyze.go turns them into records, check.go
// rejects what cannot be, emit.go, accessors.go and coherent.go write Go, generate.go ties the run together. command.go
// is the form of a command line; lost.go names what a new generation takes away.
//
//ci:computes
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/pgas/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

//go:generate go run . manual -o ../../docs/use/man

// described is pgasgen as its manual and its completion have it.
func described() *manual.Command {
	return &manual.Command{
		Name: "pgasgen", Short: "generate typed accessors for structs in symmetric and coherent memory", Help: helpOf(), Args: manual.Directories,
		Sub: []manual.Command{{Name: "pgasgen init", Short: "write a starter project", Help: helpOf("init"), Args: manual.Directories}},
	}
}

// helpOf returns what the command prints with args and -h.
func helpOf(args ...string) func() string {
	return func() string {
		var out bytes.Buffer
		run(context.Background(), append(args, "-h"), &out, io.Discard)
		return out.String()
	}
}

var usageText = `Mark a struct, generate, use it:

  //go:generate go tool pgasgen

  // Cell is one record of the symmetric heap.
  //
  //pgas:symmetric
  type Cell struct {
      Count int64 ` + "`pgas:\"atomic\"`" + `
      Halo  [2][64]float64
      Ready pgas.Signal
  }

  $ go generate                    # or: pgasgen
  $ pgasgen -check ./...           # in CI: are the generated files current?
  $ pgasgen init ./hello           # a new project that builds and runs

  cells, err := AllocCell(ctx, w, 16)       // collective
  c := cells.At(3)
  n := c.FetchAddCount(0, 1)                // remote atomic on PE 0
  c.PutHaloSignal(next, 1, row, c.Ready(), 1)

Less code: //pgas:symmetric views above a struct, or ` + "`pgas:\"view\"`" + ` on a field, generates of a field
only its view, which has all operations: c.Count().FetchAdd(0, 1).

Records of an array that PEs read and write as ordinary memory (package dsm) stand under //pgas:coherent:

  bodies, err := AllocBody(ctx, region, n)  // collective
  bodies.At(3).SetMass(1.5)                 // seen by other PEs after a release and an acquire

Packages are named as for go build; without any it is the one in the current directory.

Other things to do:
` + manual.Usage("pgasgen")

// errUsage is a mistake on the command line.
type errUsage struct{ error }

// errReported is a failure that has been described already.
var errReported = errors.New("reported")

// run is main without the process: it returns the exit status, 0, 1 for bad input, 2 for bad usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if status, done := described().Do(args, stdout, stderr); done {
		return status
	}
	var help bytes.Buffer
	err := rootCommand(stdout, stderr, &help).run(ctx, args)
	var usage errUsage
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		stdout.Write(bytes.TrimLeft(help.Bytes(), "\n"))
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "pgasgen: %s; pgasgen -h shows how to use it\n", oneLine(err.Error()))
		return 2
	default:
		fmt.Fprintf(stderr, "pgasgen: %s\n", oneLine(err.Error()))
		return 1
	}
}

// rootCommand returns the command line. Help goes to a buffer of its own, so that a wrong flag costs one
// line and not a page.
func rootCommand(stdout, stderr io.Writer, help *bytes.Buffer) *command {
	flags := newFlags("pgasgen", help)
	check := flags.Bool("check", false, "write nothing; fail if a generated file is missing or stale")
	verbose := flags.Bool("v", false, "say what is done with each file")
	tags := flags.String("tags", "", "build `tags`, separated by commas, as for go build")
	printVersion := flags.Bool("version", false, "print the version")
	return &command{
		usage:       "pgasgen [-check] [-v] [-tags list] [packages]\n  pgasgen init [-module path] [-replace dir] DIR",
		short:       "Generate typed accessors for structs in symmetric and coherent memory.",
		long:        usageText,
		flags:       flags,
		subcommands: []*command{initCommand(stdout, help)},
		exec: func(ctx context.Context, args []string) error {
			if *printVersion {
				fmt.Fprintln(stdout, "pgasgen", version.Current(), "generating for pgas contract 1")
				return nil
			}
			var build []string
			if *tags != "" {
				build = []string{"-tags=" + *tags}
			}
			return generateCommand(ctx, stdout, stderr, build, args, *check, *verbose)
		},
	}
}

// generateCommand generates for the packages that match patterns, or checks that the generated files are current.
func generateCommand(ctx context.Context, stdout, stderr io.Writer, build, patterns []string, check, verbose bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, p := range patterns {
		if strings.HasSuffix(p, ".go") {
			return errUsage{fmt.Errorf("%s is a file: name its package", p)}
		}
	}
	res, err := generate(ctx, dir, os.Environ(), build, patterns)
	if err != nil {
		return err
	}
	if len(res.problems) > 0 {
		for _, p := range res.problems {
			fmt.Fprintln(stderr, p.relative(dir))
		}
		return errReported
	}
	if verbose {
		for _, path := range res.skipped {
			fmt.Fprintf(stdout, "%s: excluded by its build constraints; use -tags, GOOS or GOARCH to generate for it\n", short(dir, path))
		}
	}
	if len(res.outputs)+len(res.orphans) == 0 {
		return fmt.Errorf("no struct in %s is marked; put the line %s or %s above one", strings.Join(orDot(patterns), " "), directive, coherentDirective)
	}
	if verbose {
		res.describe(stdout, dir)
	}
	if check {
		return reportStale(stderr, dir, res.changes())
	}
	for _, c := range res.changes() {
		if err := c.apply(); err != nil {
			return err
		}
		if c.content != nil {
			io.WriteString(stderr, describeLost(short(dir, c.source), c.old, c.content))
		}
		if verbose {
			fmt.Fprintf(stdout, "%s: was %s; done\n", short(dir, c.path), strings.TrimPrefix(c.why, "is "))
		}
	}
	return nil
}

// describe reports what was found.
func (res *result) describe(w io.Writer, dir string) {
	for _, o := range res.outputs {
		for _, s := range o.records {
			fmt.Fprintf(w, "%s: %s, %s, %s, layout %#016x\n", short(dir, o.source), s.name, count(s.size, "byte"), count(int64(len(s.fields)), "field"), s.hash)
		}
	}
}

// reportStale reports which files are not current and what makes them so.
func reportStale(w io.Writer, dir string, changes []change) error {
	for _, c := range changes {
		fmt.Fprintf(w, "%s %s; run: go tool pgasgen %s\n", short(dir, c.path), c.why, packageArg(dir, c.pkg))
	}
	if len(changes) > 0 {
		return errReported
	}
	return nil
}

// packageArg names a package by its directory.
func packageArg(dir, pkg string) string {
	rel := short(dir, pkg)
	if rel == "." || strings.HasPrefix(rel, "/") {
		return rel
	}
	return "./" + rel
}

func orDot(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"."}
	}
	return patterns
}
