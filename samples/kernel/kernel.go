// Package kernel is the main function of the samples that are kernels of others' benchmarks: stencil, transpose, gups
// and bale, and of pagerank. It reads the command line, joins the job, has PE 0 report what is wrong with the flags,
// and prints results as pgasbench does.
package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// A Kernel is one such program.
type Kernel struct {
	Name  string
	Help  string              // what -h prints above the flags
	Flags func(*flag.FlagSet) // adds the program's flags
	// returns what is wrong with the flags in a job of npes PEs, in one line
	Check func(npes int) error
	Run   func(ctx context.Context, w *pgas.World, out io.Writer) error // is collective
}

// statusUsage is the exit status after wrong flags.
const statusUsage = 2

// Main runs k on the PEs of a job. It does not return if something goes wrong.
func Main(k *Kernel) {
	help, bad := k.parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if bad == nil && help == "" {
			bad = k.Check(w.NPEs())
		}
		switch {
		case bad == nil && help == "":
			return k.Run(ctx, w, os.Stdout)
		case w.PE() != 0:
			bad = nil // PE 0 alone reports it
		default:
			fmt.Print(help)
		}
		return nil
	})
	if bad != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", k.Name, bad)
		os.Exit(statusUsage)
	}
}

// parse reads the command line. If it asks for help, help is the text. The error is one line.
func (k *Kernel) parse(args []string) (help string, err error) {
	var b strings.Builder
	fs := flag.NewFlagSet(k.Name, flag.ContinueOnError)
	fs.SetOutput(&b)
	fs.Usage = func() {}
	k.Flags(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fs.PrintDefaults()
		return k.Help + b.String(), nil
	case err != nil:
		return "", fmt.Errorf("%w; -h lists the flags", err)
	case fs.NArg() > 0:
		return "", fmt.Errorf("unexpected argument %q; -h lists the flags", fs.Arg(0))
	}
	return "", nil
}

// Time returns how long n calls of iterate take on all PEs. It is collective. iterate gets 0 to n-1.
func Time(ctx context.Context, w *pgas.World, n int, iterate func(i int) error) (time.Duration, error) {
	if err := w.Barrier(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range n {
		if err := iterate(i); err != nil {
			return 0, err
		}
	}
	err := w.Barrier(ctx)
	return time.Since(start), err
}

// A Result is the line that -json prints.
type Result struct {
	Bench     string  `json:"bench"`
	Bytes     int     `json:"bytes"`
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	P50ns     float64 `json:"p50_ns"`
	MBps      float64 `json:"mbps,omitempty"`
	Mops      float64 `json:"mops,omitempty"`
	Computed  string  `json:"computed,omitempty"` // in words that the program in C prints too
}

// Print writes r as JSON, with the number of PEs of w and the transport to the last one.
func (r Result) Print(out io.Writer, w *pgas.World) error {
	r.PEs, r.Transport = w.NPEs(), w.TransportTo(w.NPEs()-1)
	return json.NewEncoder(out).Encode(r)
}
