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
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
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
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "gups",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			if o.updates == 0 {
				o.updates = 4 << o.logarithm
			}
			return gups(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.logarithm, "log", 22, "the table has two to the power of this `number` words of 8 bytes")
	fs.Uint64Var(&o.updates, "updates", 0, "`updates` of all PEs together (default: four for each word)")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
}

// The table has room for a word of each of the most PEs, and its byte offsets fit 43 bits.
const leastLogarithm, mostLogarithm = 10, 40

// check returns an error for flags that are out of range.
func (o *options) check(int) error {
	switch {
	case o.logarithm < leastLogarithm || o.logarithm > mostLogarithm:
		return fmt.Errorf("-log %d: give a number from %d to %d", o.logarithm, leastLogarithm, mostLogarithm)
	case o.updates > 1<<48:
		return fmt.Errorf("-updates %d: give %d at most", o.updates, uint64(1)<<48)
	}
	return nil
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

// report prints the rate.
func report(out io.Writer, w *pgas.World, o options, took time.Duration) error {
	rate := float64(o.updates) / took.Seconds()
	if o.json {
		return kernel.Result{Bench: "gups", Bytes: 8, P50ns: 1e9 / rate, Mops: rate / 1e6}.Print(out, w)
	}
	_, err := fmt.Fprintf(out, "%d updates of 2^%d words on %d PEs of %d host(s): %.2f s, %.6f GUPS; all words are right\n",
		o.updates, o.logarithm, w.NPEs(), len(w.Hosts()), took.Seconds(), rate/1e9)
	return err
}
