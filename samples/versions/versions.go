// Package versions runs a program that computes one thing in several ways, with the PEs of a job or in the
// simulator, and prints how long each took. It is the main function of the samples that compare message
// passing, one-sided access and notified access.
//
// A program has a name and modes, and calls Main:
//
//	func main() {
//		var length int
//		versions.Main(&versions.Program{
//			Name: "sum",
//			Help: help, // what -h prints above the flags
//			Flags: func(fs *flag.FlagSet) { fs.IntVar(&length, "n", 1, "`numbers` of each PE") },
//			Check: func(npes int) error { … }, // of the flags, for a job of so many PEs
//			Modes: []versions.Mode{{"messages", "send and receive", openMessages}, {"notify", "notified puts", openNotify}},
//		})
//	}
//
// A mode's Open is collective: it allocates what the mode needs, on a PE that is a *Run, and returns a Version.
// Each Round of that computes everything once and returns how long it took:
//
//	func (v *version) Round(ctx context.Context) (time.Duration, error) {
//		start, err := v.Start(ctx) // all PEs have arrived, and go on together
//		…                          // v.Charge(ctx, d) after each computation
//		took := v.Now() - start
//		…                          // the result is checked outside of the measured time
//		return v.Slowest(ctx, took)
//	}
//
// Rounds of the modes alternate, and the median of each is reported, with its ratio to the first mode: how
// many times as fast it is. Flags of every program: -mode, -runs and -json, and -sim with -pes, -machine,
// -topo and -seed.
//
// In the simulator, computing takes no time by itself: Charge adds it. On real PEs
// Charge does nothing.
//
//ci:norace
package versions

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// A Program computes the same thing in several ways.
type Program struct {
	Name  string
	Help  string               // what -h prints above the flags
	Flags func(*flag.FlagSet)  // adds the program's flags
	Check func(npes int) error // returns what is wrong with the flags in a job of so many PEs, in one line
	// Prepare makes or reads the input for so many PEs, on PE 0 alone. Its error is one line about bad
	// input. It may be nil.
	Prepare func(npes int) error
	About   func(npes int) string    // describes the input, on PE 0
	Modes   []Mode                   // the first is the one that the others are compared with
	PEs     string                   // numbers of PEs to simulate without -pes: "32,64"
	Work    func(npes int) float64   // operations of a round; nil: there is no rate
	Unit    string                   // of the rate, in 10⁹ operations a second: "Gflop/s"
	Bytes   func(npes int) (n int)   // of a round, for -json
	Heap    func(npes int) (n int64) // bytes that a simulated PE allocates at the most; nil: 1 GiB
}

// A Mode is one way to compute.
type Mode struct {
	Name  string // for -mode
	Means string // in a few words, for the help
	Open  func(ctx context.Context, r *Run) (Version, error)
}

// A Version is what a mode's Open returns on a PE.
type Version interface {
	// Round computes everything once, checks the result, and returns how long it took. It is collective,
	// and the time that PE 0 returns counts.
	Round(ctx context.Context) (time.Duration, error)
	// Close frees what Open has allocated. It is collective.
	Close(ctx context.Context) error
}

// The exit statuses of a program.
const (
	statusFailed = 1
	statusUsage  = 2
)

// Main runs p. It does not return if something goes wrong.
func Main(p *Program) {
	o, text, bad := p.parse(os.Args[1:])
	switch underLauncher := os.Getenv("PGAS_PE") != ""; {
	case bad != nil && !underLauncher:
		p.misused(bad)
	case text != "" && !underLauncher: // help needs no job
		fmt.Print(text)
		return
	case bad == nil && text == "" && o.simulated:
		p.mainSimulated(o)
		return
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if bad == nil && text == "" {
			bad = p.Check(w.NPEs())
		}
		switch {
		case bad == nil && text == "":
			return asInput(p.measure(ctx, w, o, os.Stdout), &bad)
		case w.PE() != 0:
			bad = nil // PE 0 alone reports it
		default:
			fmt.Print(text)
		}
		return nil
	})
	if bad != nil {
		p.misused(bad)
	}
}

func (p *Program) mainSimulated(o *options) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var bad error
	err := asInput(p.simulate(ctx, o, os.Stdout), &bad)
	if bad != nil {
		p.misused(bad)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(statusFailed)
	}
}

// badInput is the error of Prepare on PE 0, and without an error of its own on the other PEs.
type badInput struct{ err error }

func (*badInput) Error() string { return "bad input" }

// asInput returns nil if err is about bad input, and sets bad to the reason.
func asInput(err error, bad *error) error {
	if input := (*badInput)(nil); errors.As(err, &input) {
		*bad = input.err
		return nil
	}
	return err
}

func (p *Program) misused(bad error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, bad)
	os.Exit(statusUsage)
}
