// Package versions runs a program that computes one thing in several ways, with the PEs of a job or in the
// simulator, and prints how long each took. It is the main function of the samples that compare message
// passing, one-sided access and notified access.
//
// A program says what it is and which modes it has, and calls Main:
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
// A mode's Open is collective: it makes what the mode needs, on a PE that is a *Run, and returns a Version.
// Each Round of that computes everything once and returns how long it took:
//
//	func (v *version) Round(ctx context.Context) (time.Duration, error) {
//		start, err := v.Start(ctx) // all PEs are here, and go on together
//		…                          // v.Charge(ctx, d) where it computes
//		took := v.Now() - start
//		…                          // the result is checked here, where no time is taken
//		return v.Slowest(ctx, took)
//	}
//
// Rounds of the modes take turns, and the median of each is reported, with its ratio to the first mode: how
// many times as fast it is. Flags of every program: -mode, -runs and -json, and -sim with -pes, -machine,
// -topo and -seed.
//
// In the simulator, computing takes no time by itself, and Charge says what it would take. On real PEs
// Charge does nothing.
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
	Flags func(*flag.FlagSet)  // adds the program's own
	Check func(npes int) error // says what is wrong with them in a job of so many PEs, in one line
	// Prepare makes or reads what is computed by so many PEs, on PE 0 alone. Its error is one line about bad
	// input. It may be nil.
	Prepare func(npes int) error
	About   func(npes int) string    // says what is computed, on PE 0
	Modes   []Mode                   // the first is what the others are compared with
	PEs     string                   // what is simulated, if -pes does not say: "32,64"
	Work    func(npes int) float64   // of a round, in operations; nil: there is no rate
	Unit    string                   // of the rate, in 10⁹ operations a second: "Gflop/s"
	Bytes   func(npes int) (n int)   // that the line of -json tells
	Heap    func(npes int) (n int64) // bytes that a simulated PE allocates at the most; nil: 1 GiB
}

// A Mode is one way.
type Mode struct {
	Name  string // as -mode has it
	Means string // in a few words, for the help
	Open  func(ctx context.Context, r *Run) (Version, error)
}

// A Version is what a mode's Open returns on a PE.
type Version interface {
	// Round computes everything once, checks the result, and returns how long it took. It is collective,
	// and what PE 0 returns counts.
	Round(ctx context.Context) (time.Duration, error)
	// Close gives back what Open has allocated. It is collective.
	Close(ctx context.Context) error
}

// The statuses of a program.
const (
	statusFailed = 1
	statusUsage  = 2
)

// Main is the main function of p. It does not return if something goes wrong.
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
			bad = nil // one PE says it
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

// badInput is what Prepare says; nothing, on the PEs that are not PE 0.
type badInput struct{ err error }

func (*badInput) Error() string { return "bad input" }

// asInput makes err nil if it is about bad input, and sets bad to what that is.
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
