package dsmbench

// A point is one skeleton with one value for each parameter.

import (
	"fmt"
	"strconv"
	"time"

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

// Row makes parameters the rows of a table.
func (p parameter) Row() (name, doc string) { return p.name, p.label }

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
