package compare

// What the rows of the comparison are made of.

import (
	"fmt"
	"strconv"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// A point is one figure that a suite delivers.
type point struct {
	suite string // a name in suites
	bench string // the bench; "" if the figure is the time of the whole process
	bytes int
}

// row is one line of the comparison.
type row struct {
	group  string
	name   string
	ours   point
	theirs []point // the points of peers; the best point counts
	least  float64 // theirs/ours must be at least this; 0: no goal
	goal   string  // least in the words of the table
	kind   kind
}

// kind is what a figure is.
type kind uint8

const (
	perOperation kind = iota // the time of an operation in ns; less is better
	perByte                  // the rate in MB/s, compared as the time of a transfer
	wholeProcess             // the time of a process in ns
	residentKB               // the memory of a PE in kB
	sharedKB                 // the memory of a PE in kB, shared pages divided
	waitP99                  // the time from request to acquisition in ns, of the PE that waited longest
	longestWait              // the longest such time
	passings                 // turns that others had between two turns of a PE, at most
	unfairness               // turns of the PE that had the most, divided by turns of the PE that had the fewest
)

// of picks the figure that the kind of row compares.
func (k kind) of(r result.Result) float64 {
	switch k {
	case residentKB:
		return r.RssKB
	case sharedKB:
		return r.PssKB
	case waitP99:
		return r.P99ns
	case longestWait:
		return r.MaxNs
	case passings:
		return float64(r.Passed)
	case unfairness:
		return float64(r.Most) / float64(max(r.Least, 1))
	}
	return r.P50ns
}

const (
	sameHost  = "same host"
	crowded   = "more PEs than cores"
	twoHosts  = "two hosts"
	wholeJobs = "whole job"
	programs  = "programs"
)

const (
	noSlower = "no slower"
	mebi     = 1 << 20
)

// goalOf is a goal in words.
func goalOf(least float64) string {
	switch {
	case least == 1:
		return noSlower
	case least > 1:
		return fmt.Sprintf("%.0fx", least)
	}
	return ""
}

func one(suite, bench string, bytes int) []point { return []point{{suite, bench, bytes}} }

func (k kind) unit() string {
	switch k {
	case residentKB, sharedKB:
		return "kB"
	case perByte:
		return "ns/MiB"
	case passings:
		return "turns"
	case unfairness:
		return ""
	}
	return "ns"
}

// write shows a figure of the kind.
func (k kind) write(v float64) string {
	switch k {
	case residentKB, sharedKB:
		return fmt.Sprintf("%.1f MB", v/1e3)
	case perByte:
		return fmt.Sprintf("%.2f GB/s", mebi/v)
	case passings:
		return fmt.Sprintf("%.0f turns", v)
	case unfairness:
		return fmt.Sprintf("%.2f : 1", v)
	}
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}} {
		if v >= u.least {
			return strconv.FormatFloat(v/max(u.least, 1), 'g', 3, 64) + " " + u.name
		}
	}
	return ""
}
