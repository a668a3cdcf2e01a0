package dsmbench

// A point is one skeleton with one value for each parameter, and what comes of it.

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
)

// point is one point to simulate.
type point struct {
	Bench    string `json:"bench"`
	Protocol string `json:"protocol"`
	Notices  int    `json:"notices"` // 0: none
	Lease    uint64 `json:"lease"`
	Nodes    int    `json:"nodes"`
	Threads  int    `json:"threads"` // PEs of a host
	Steps    int    `json:"steps"`
	// Fault is what the CPU of a PE is busy with for each block that it fetches or writes first, besides the messages.
	Fault time.Duration `json:"fault_ns"`
	Costs string        `json:"costs"`
	Vary  string        `json:"vary,omitempty"`
	Seed  uint64        `json:"seed"`
}

func (c point) pes() int { return c.Nodes * c.Threads }

// noticesOption returns c.Notices as dsm.Options have it.
func (c point) noticesOption() int {
	if c.Notices == 0 {
		return -1
	}
	return c.Notices
}

func (c point) name() string {
	return fmt.Sprintf("%s %s, %d notices, %d hosts of %d PEs", c.Bench, c.Protocol, c.Notices, c.Nodes, c.Threads)
}

// wholeBlocks is the name of fixed-home with releases that put whole blocks, as in the paper's baseline.
const wholeBlocks = "fixed-home-whole"

// choiceOf returns the choice that the command line names, and whether there is one.
func choiceOf(name string) (c protocols.Choice, ok bool) {
	if name == wholeBlocks {
		return protocols.Choice{Protocol: protocols.FixedHome, WholeBlocks: true}, true
	}
	c.Protocol, ok = protocols.Named(name)
	return c, ok
}

func protocolNames() (names []string) {
	for _, p := range protocols.All() {
		names = append(names, p.String())
	}
	return append(names, wholeBlocks)
}

// A parameter is what can be varied, and be the axis of a plot.
type parameter struct {
	name, label string
	text        func(point) string
	value       func(point) float64 // nil: it is no number
}

func number(name, label string, of func(point) int) parameter {
	return parameter{
		name: name, label: label,
		text: func(c point) string { return strconv.Itoa(of(c)) }, value: func(c point) float64 { return float64(of(c)) },
	}
}

// parameters in the order of the table's columns.
var parameters = []parameter{
	{name: "bench", text: func(c point) string { return c.Bench }},
	{name: "protocol", text: func(c point) string { return c.Protocol }},
	number("notices", "write notices of a fence", func(c point) int { return c.Notices }),
	number("lease", "lease", func(c point) int { return int(c.Lease) }),
	{
		name: "fault", label: "CPU time of a page fault, µs",
		text: func(c point) string { return c.Fault.String() }, value: func(c point) float64 { return c.Fault.Seconds() * 1e6 },
	},
	number("nodes", "hosts", func(c point) int { return c.Nodes }),
	number("pes", "PEs", point.pes),
}

func parameterOf(name string) (parameter, bool) {
	i := slices.IndexFunc(parameters, func(p parameter) bool { return p.name == name })
	if i < 0 {
		return parameter{}, false
	}
	return parameters[i], true
}

// outcome is a point that has been simulated. Counts are of all PEs in one step.
type outcome struct {
	point
	PEs          int           `json:"pes"`
	Step         time.Duration `json:"step_ns"`
	Program      float64       `json:"program_s"` // all steps
	Speedup      float64       `json:"speedup"`   // over the paper's time in order
	FastReads    float64       `json:"fast_reads"`
	SlowReads    float64       `json:"slow_reads"`
	Hops         float64       `json:"hops"`
	Gets         float64       `json:"gets"`
	Fetched      float64       `json:"bytes_fetched"` // as the program's
	FastReleases float64       `json:"fast_releases"`
	Moves        float64       `json:"moves"`
	Invalidated  float64       `json:"invalidated"`
}

// tally is what one PE did in the measured steps.
type tally struct {
	took  time.Duration
	stats dsm.Stats
}

// sum makes a result of the tallies of all PEs.
func sum(c point, tallies []tally) outcome {
	p, _ := programOf(c.Bench)
	r := outcome{point: c, PEs: c.pes()}
	steps := float64(c.Steps)
	for _, t := range tallies {
		r.Step = max(r.Step, t.took/time.Duration(c.Steps))
		r.FastReads += float64(t.stats.FastReads) / steps
		r.SlowReads += float64(t.stats.SlowReads) / steps
		r.Hops += float64(t.stats.Hops) / steps
		r.Gets += float64(t.stats.Gets) / steps
		r.Fetched += float64(t.stats.BytesFetched) * float64(p.grain) / steps
		r.FastReleases += float64(t.stats.FastReleases) / steps
		r.Moves += float64(t.stats.Moves) / steps
		r.Invalidated += float64(t.stats.Invalidated) / steps
	}
	r.Program = r.Step.Seconds() * float64(p.steps)
	r.Speedup = p.sequential.Seconds() / r.Program
	return r
}

// since returns what has been counted since before.
func since(before, now dsm.Stats) dsm.Stats {
	return dsm.Stats{
		FastReads: now.FastReads - before.FastReads, SlowReads: now.SlowReads - before.SlowReads,
		Hops: now.Hops - before.Hops, Gets: now.Gets - before.Gets, BytesFetched: now.BytesFetched - before.BytesFetched,
		FastReleases: now.FastReleases - before.FastReleases, Moves: now.Moves - before.Moves,
		Changed: now.Changed - before.Changed, Invalidated: now.Invalidated - before.Invalidated, Fences: now.Fences - before.Fences,
	}
}
