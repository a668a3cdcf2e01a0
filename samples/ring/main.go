// Command ring sends a token round all PEs, each of which adds its part, and measures a hop: one put
// with signal, and one wait for it.
//
//	pgasrun -n 4 ./samples/ring
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const help = `ring sends a token round all PEs and measures a hop: one put with signal, and one wait for it.

usage: pgasrun [pgasrun's flags] ./samples/ring [flags]

  pgasrun -n 4 ./samples/ring                    four PEs on this host
  pgasrun -n 4 ./samples/ring -laps 100000       for longer
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/ring
                                                 two of the four hops are between hosts

Every PE adds its number to each word of the token on every lap, and PE 0 checks the sums.

flags:
`

func main() {
	laps, text, bad := parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if bad == nil && text == "" {
			return ring(ctx, w, laps)
		}
		if w.PE() != 0 {
			bad = nil // PE 0 alone reports it
		} else {
			fmt.Print(text)
		}
		return nil
	})
	if bad != nil {
		fmt.Fprintln(os.Stderr, "ring:", bad)
		os.Exit(2)
	}
}

// parse reads the command line. If it asks for help, text is the help.
func parse(args []string) (laps uint64, text string, err error) {
	var b strings.Builder
	flags := flag.NewFlagSet("ring", flag.ContinueOnError)
	flags.SetOutput(&b)
	flags.Usage = func() {}
	flags.Uint64Var(&laps, "laps", 1000, "`times` that the token goes round")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.PrintDefaults()
		return 0, help + b.String(), nil
	case err != nil:
		return 0, "", fmt.Errorf("%w; -h lists the flags", err)
	case flags.NArg() > 0:
		return 0, "", fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	case laps == 0:
		return 0, "", errors.New("-laps 0: the token must go round at least once")
	}
	return laps, "", nil
}

// ring passes the token round, laps times. It is collective.
func ring(ctx context.Context, w *pgas.World, laps uint64) error {
	stops, err := AllocStop(ctx, w, 1)
	if err != nil {
		return err
	}
	s := stops.At(0)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	start := time.Now()
	if err := pass(ctx, w, s, laps); err != nil {
		return err
	}
	took := time.Since(start)
	if w.PE() == 0 {
		if err := check(w.NPEs(), laps, s.Token().Local()); err != nil {
			return err
		}
		hops := laps * uint64(w.NPEs())
		fmt.Printf("%d laps of %d PEs on %d host(s): %d hops of %d bytes, %.2f µs each; the token is right\n",
			laps, w.NPEs(), len(w.Hosts()), hops, 8*tokenWords, took.Seconds()*1e6/float64(hops))
	}
	return stops.Free(ctx)
}

// pass does one PE's part: PE 0 starts each lap, the others wait for the token and put it on, and PE 0 waits for
// it at the end.
func pass(ctx context.Context, w *pgas.World, s StopRef, laps uint64) error {
	next := (w.PE() + 1) % w.NPEs()
	token := s.Token().Local()
	for lap := uint64(1); lap <= laps; lap++ {
		if w.PE() != 0 {
			if _, err := s.Arrived().WaitUntil(ctx, pgas.GE, lap); err != nil {
				return err
			}
		}
		for i := range token {
			token[i] += uint64(w.PE())
		}
		s.PutTokenSignal(next, token, s.Arrived(), lap)
		if w.PE() == 0 {
			if _, err := s.Arrived().WaitUntil(ctx, pgas.GE, lap); err != nil {
				return err
			}
		}
	}
	return nil
}

// check returns nil if every word of the token is the sum of all PEs' numbers, laps times.
func check(npes int, laps uint64, token []uint64) error {
	want := laps * uint64(npes) * uint64(npes-1) / 2
	for i, got := range token {
		if got != want {
			return fmt.Errorf("word %d of the token is %d after %d laps, not %d", i, got, laps, want)
		}
	}
	return nil
}
