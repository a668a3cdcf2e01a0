package pgastest

import (
	"fmt"
	"os"
	"strings"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// RacesError is the error of a run with Options.Races in which PEs have raced.
type RacesError struct {
	Lines []string // a line for each pair of places in the program
}

func (e *RacesError) Error() string { return strings.Join(e.Lines, "\n") }

// races collects what is reported in a run.
type races struct {
	job   *racecheck.Job
	lines []string
}

// newRaces returns what collects the races of a run, if they are wanted.
func newRaces(npes int, wanted bool) *races {
	r := new(races)
	if wanted {
		missed := func(line string) { fmt.Fprintln(os.Stderr, "pgastest: "+line) }
		r.job = racecheck.NewJob(npes, func(_ int, line string) { r.lines = append(r.lines, line) }, missed)
	}
	return r
}

// err returns the error of the run, or nil.
func (r *races) err() error {
	if len(r.lines) == 0 {
		return nil
	}
	return &RacesError{r.lines}
}
