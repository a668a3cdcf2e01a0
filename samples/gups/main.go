// Command gups is RandomAccess of the HPC Challenge: it updates random words of a table that is spread
// over the PEs, and reports billions of updates a second.
//
//	pgasrun -n 4 ./samples/gups
//
// table.go has the table and its updates, stream.go the random numbers. tests/peers/gups.c is the same in
// C, by OpenSHMEM.
package main

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

const help = `gups updates random words of a table that is spread over all PEs, and reports the giga-updates per
second.

usage: pgasrun [pgasrun's flags] ./samples/gups [flags]

  pgasrun -n 4 ./samples/gups                             four PEs on this host
  pgasrun -n 4 ./samples/gups -log 28                     a table of 2 GiB
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/gups -log 24 -updates 1000000
                                                          half of all updates go between hosts

An update is the exclusive or of a word with a random number, whose last bits say which word. Each is one
remote atomic, so none is lost, where the rules allow one in a hundred; a PE looks 1,024 updates ahead, as
the rules allow, and waits for them together. At the end each PE undoes all updates in its words by
itself, and checks every word.

flags:
`

type options struct {
	logarithm int
	updates   uint64
	json      bool
}

func main() {
	o, text, bad := parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		switch {
		case bad == nil && text == "":
			return gups(ctx, w, o, os.Stdout)
		case w.PE() != 0:
			bad = nil // one PE says it
		default:
			fmt.Print(text)
		}
		return nil
	})
	if bad != nil {
		fmt.Fprintln(os.Stderr, "gups:", bad)
		os.Exit(2)
	}
}

// The table has room for a word of each of the most PEs, and its byte offsets fit 43 bits.
const leastLogarithm, mostLogarithm = 10, 40

// parse reads the command line. If it asks for help, that is the text.
func parse(args []string) (o options, text string, err error) {
	var b strings.Builder
	flags := flag.NewFlagSet("gups", flag.ContinueOnError)
	flags.SetOutput(&b)
	flags.Usage = func() {}
	flags.IntVar(&o.logarithm, "log", 22, "the table has two to the power of this `number` words of 8 bytes")
	flags.Uint64Var(&o.updates, "updates", 0, "`updates` of all PEs together (default: four for each word)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.PrintDefaults()
		return o, help + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case flags.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	case o.logarithm < leastLogarithm || o.logarithm > mostLogarithm:
		return o, "", fmt.Errorf("-log %d: give a number from %d to %d", o.logarithm, leastLogarithm, mostLogarithm)
	case o.updates > 1<<48:
		return o, "", fmt.Errorf("-updates %d: give %d at most", o.updates, uint64(1)<<48)
	}
	if o.updates == 0 {
		o.updates = 4 << o.logarithm
	}
	return o, "", nil
}

// gups runs the benchmark and reports it. It is collective.
func gups(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	t, err := newTable(ctx, w, o.logarithm)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := t.run(ctx, o.updates); err != nil {
		return err
	}
	took := time.Since(start)
	wrong, err := t.errors(ctx, o.updates)
	if err != nil || w.PE() != 0 {
		return err
	}
	if wrong != 0 {
		return fmt.Errorf("%d words of %d are wrong", wrong, t.words)
	}
	return report(out, w, o, took)
}

// A line is what -json prints.
type line struct {
	Bench     string  `json:"bench"`
	Bytes     int     `json:"bytes"` // of a word
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	P50ns     float64 `json:"p50_ns"` // of an update, of the job
	Mops      float64 `json:"mops"`
}

// report prints the rate.
func report(out io.Writer, w *pgas.World, o options, took time.Duration) error {
	rate := float64(o.updates) / took.Seconds()
	if o.json {
		return json.NewEncoder(out).Encode(line{"gups", 8, w.NPEs(), w.TransportTo(w.NPEs() - 1), 1e9 / rate, rate / 1e6})
	}
	_, err := fmt.Fprintf(out, "%d updates of 2^%d words on %d PEs of %d host(s): %.2f s, %.6f GUPS; all words are right\n",
		o.updates, o.logarithm, w.NPEs(), len(w.Hosts()), took.Seconds(), rate/1e9)
	return err
}
