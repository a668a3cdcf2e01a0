package benchmark

// What a run has found, and how it is printed.

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gopgas/gopgas/dsm"
)

// A Result is what a run of a Program has found.
type Result struct {
	Checks     []Check
	Elapsed    time.Duration // of the timed part
	Operations float64       // of the timed part, as the benchmark counts them
	Memory     string        // what the coherent memory was, if the version has one
	Counters   dsm.Stats     // what PE 0 did for it, in the whole run
}

// Close closes the region of a version and records what it was. It is collective. Errors: those of Region.Close.
func (r *Result) Close(ctx context.Context, region *dsm.Region) error {
	r.Memory, r.Counters = region.String(), region.Stats()
	return region.Close(ctx)
}

// A Check compares a value with the published one.
type Check struct {
	Name      string
	Value     float64
	Reference float64
	Tolerance float64 // the greatest relative error; 0 asks for equality
}

// Error returns the relative error, or the value itself if the reference is 0.
func (c Check) Error() float64 {
	if c.Reference == 0 {
		return math.Abs(c.Value)
	}
	return math.Abs((c.Value - c.Reference) / c.Reference)
}

// Passed reports whether the error is within the tolerance. A value that is no number does not pass.
func (c Check) Passed() bool { return c.Error() <= c.Tolerance }

// Verified reports whether all checks have passed. A Result without checks is not verified.
func (r Result) Verified() bool {
	for _, c := range r.Checks {
		if !c.Passed() {
			return false
		}
	}
	return len(r.Checks) > 0
}

// print writes a line for each check, the verdict and the speed.
func (r Result) print(out io.Writer) {
	for _, c := range r.Checks {
		verdict := "ok"
		if !c.Passed() {
			verdict = fmt.Sprintf("WRONG: the greatest error allowed is %.0e", c.Tolerance)
		}
		fmt.Fprintf(out, "  %-22s %22.15g  reference %22.15g  relative error %.1e  %s\n", c.Name, c.Value, c.Reference, c.Error(), verdict)
	}
	if r.Memory != "" {
		s := r.Counters
		fmt.Fprintf(out, "  %s\n  PE 0 fetched %.3f MB by %d gets, and released %d blocks by messages, %d without\n", r.Memory, float64(s.BytesFetched)/1e6, s.Gets, s.Moves, s.FastReleases)
	}
	verdict := "yes"
	if !r.Verified() {
		verdict = "NO"
	}
	s := r.Elapsed.Seconds()
	fmt.Fprintf(out, "  verified %s, %.4f s, %.2f Mop/s\n", verdict, s, r.Operations/s/1e6)
}
