// Package machines has the machines that benches simulate, by the names of -costs, and what if one of their costs were
// another: -vary nicatomic=4 has atomics of a NIC take four times as long. So a figure can be asked whether it hangs on
// a cost that is an estimate.
package machines

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/sim"
)

// known are the costs that the simulator has.
var known = map[string]sim.Costs{
	"aries": sim.Aries, "connectx3": sim.ConnectX3, "mt25208": sim.MT25208, "mt25208-notified": sim.MT25208Notified,
}

// Names returns the names of all machines.
func Names() []string { return slices.Sorted(maps.Keys(known)) }

// costFields are what can be varied: each calls scale with the costs of that name.
var costFields = map[string]func(c *sim.Costs, scale func(*sim.Picos)){
	"overhead":  func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Overhead) },
	"answer":    func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Answer) },
	"gap":       func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Gap) },
	"nicatomic": func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.NICAtomic) },
	"hit":       func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Hit) },
	"poll":      func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Poll) },
	"receive":   func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Receive) },
	"notify":    func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Notify) },
	"loopback":  func(c *sim.Costs, scale func(*sim.Picos)) { scale(&c.Loopback.Latency) },
	"latency": func(c *sim.Costs, scale func(*sim.Picos)) {
		for i := range c.Network {
			scale(&c.Network[i].Latency)
		}
	},
	"line": func(c *sim.Costs, scale func(*sim.Picos)) {
		for level, m := range c.Memory {
			scale(&m.Line)
			c.Memory[level] = m
		}
	},
}

func costNames() []string { return slices.Sorted(maps.Keys(costFields)) }

// Costs returns a machine with some costs multiplied: "gap=2,poll=0.5". It returns an error that lists the costs if one
// is not known.
func Costs(machine, changes string) (*sim.Costs, error) {
	c := known[machine]
	c.Network, c.Memory = slices.Clone(c.Network), maps.Clone(c.Memory)
	for change := range strings.SplitSeq(changes, ",") {
		if change == "" {
			continue
		}
		name, text, _ := strings.Cut(change, "=")
		vary, exists := costFields[name]
		by, err := strconv.ParseFloat(text, 64)
		if !exists || err != nil || !(by >= 0 && by <= 1e6) {
			return nil, fmt.Errorf("-vary %s: a cost and how many times as much it is to be, such as gap=2; there are %s", change, strings.Join(costNames(), ", "))
		}
		vary(&c, func(cost *sim.Picos) { *cost = sim.Picos(float64(*cost) * by) })
	}
	return &c, nil
}
