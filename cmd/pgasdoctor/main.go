// Command pgasdoctor is the part of `pgasrun doctor` that needs UCX and other hosts: a job of one PE on each host. Each
// PE examines its host, and each in turn measures its connection to every other one. What they find they print as lines
// of JSON (package doctor), at once, so that nothing is lost if a PE dies.
//
// pgasrun starts it. Under another launcher, `pgasrun doctor -from FILE` makes the report of what it prints:
//
//	srun --mpi=pmix -N 4 pgasdoctor > lines; pgasrun doctor -from lines
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/ucx"
)

const help = `pgasdoctor examines hosts and measures the connections between them, as a job of one PE on each host.

usage: pgasrun doctor [-hosts HOSTS]             starts it and prints a report

  srun --mpi=pmix -N 4 pgasdoctor > lines        under another launcher
  pgasrun doctor -from lines                     the report of what it has printed
`

func main() {
	if len(os.Args) == 2 && os.Args[1] == doctor.AskUCX {
		if err := json.NewEncoder(os.Stdout).Encode(doctor.UCX{Built: ucx.Built(), Running: ucx.Version()}); err != nil {
			fmt.Fprintln(os.Stderr, "pgasdoctor:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 {
		if strings.TrimLeft(os.Args[1], "-") == "h" || strings.TrimLeft(os.Args[1], "-") == "help" {
			fmt.Print(help)
			return
		}
		fmt.Fprintf(os.Stderr, "pgasdoctor: %q: it takes no arguments; pgasdoctor -h says how to start it\n", os.Args[1])
		os.Exit(2)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error { return examine(ctx, w, os.Stdout) })
}

// examine is what each PE does. It writes a line for each thing that it finds to out.
func examine(ctx context.Context, w *pgas.World, out io.Writer) error {
	if slices.Contains(representatives(w), w.PE()) {
		checks := append(doctor.Examine(doctor.Here()), ucxChecks()...)
		line := doctor.Line{Host: &doctor.Host{Name: w.Host(), PE: w.PE(), Checks: checks}}
		if err := line.Write(out); err != nil {
			return err
		}
	}
	if err := measureAll(ctx, w, out); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	return doctor.Line{Done: &struct{}{}}.Write(out)
}
