package lockbench

// The machines that can be simulated, and what if one of their costs were another: -vary nicatomic=4 has atomics of
// a NIC take four times as long. So a figure can be asked whether it hangs on a cost that is an estimate.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/sim"
)

// machines are the costs that the simulator knows.
var machines = map[string]sim.Costs{
	"aries": sim.Aries, "connectx3": sim.ConnectX3, "mt25208": sim.MT25208, "mt25208-notified": sim.MT25208Notified,
}

func machineNames() []string { return slices.Sorted(maps.Keys(machines)) }

// costFields are what can be varied.
var costFields = map[string]func(*sim.Costs) []*sim.Picos{
	"overhead":  func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Overhead} },
	"answer":    func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Answer} },
	"gap":       func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Gap} },
	"nicatomic": func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.NICAtomic} },
	"hit":       func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Hit} },
	"poll":      func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Poll} },
	"receive":   func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Receive} },
	"notify":    func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Notify} },
	"loopback":  func(c *sim.Costs) []*sim.Picos { return []*sim.Picos{&c.Loopback.Latency} },
	"latency": func(c *sim.Costs) (all []*sim.Picos) {
		for i := range c.Network {
			all = append(all, &c.Network[i].Latency)
		}
		return all
	},
}

func costNames() []string { return slices.Sorted(maps.Keys(costFields)) }

// costsOf is a machine with some costs multiplied: "gap=2,poll=0.5".
func costsOf(machine, changes string) (*sim.Costs, error) {
	c := machines[machine]
	c.Network = slices.Clone(c.Network)
	for change := range strings.SplitSeq(changes, ",") {
		if change == "" {
			continue
		}
		name, text, _ := strings.Cut(change, "=")
		fields, known := costFields[name]
		by, err := strconv.ParseFloat(text, 64)
		if !known || err != nil || !(by >= 0 && by <= 1e6) {
			return nil, fmt.Errorf("-vary %s: a cost and how many times as much it is to be, such as gap=2; there are %s", change, strings.Join(costNames(), ", "))
		}
		for _, cost := range fields(&c) {
			*cost = sim.Picos(float64(*cost) * by)
		}
	}
	return &c, nil
}
