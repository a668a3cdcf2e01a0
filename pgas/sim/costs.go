package sim

// What things cost: the LogGP parameters of the machines that are simulated. This is the only file with
// such numbers, and each says where it comes from.

import "time"

// Picos is a time in picoseconds: many wires carry a byte in less than a nanosecond.
type Picos int64

// Nanos is n nanoseconds.
func Nanos(n float64) Picos { return Picos(n * 1000) }

// Duration is p in full nanoseconds.
func (p Picos) Duration() time.Duration { return time.Duration(p / 1000) }

// Link is how far two PEs are apart.
type Link struct {
	Latency Picos // L: of one way, without what LogGP calls overhead
	PerByte Picos // G
}

// Memory is what the PEs of a host have in common.
type Memory struct {
	Line    Picos // moving a cache line from one PE's core to another's
	PerByte Picos // copying
}

// Costs are the parameters of a machine.
type Costs struct {
	// Memory is by the innermost level that two PEs of a host share: core, cache, numa, socket or host. A
	// level that is not here costs what the next one outwards costs.
	Memory map[string]Memory
	// Network is between hosts: that of the nearest ones first. The last is for all that are further apart.
	Network []Link
	// Loopback is from a host to itself by its NIC.
	Loopback Link

	Overhead  Picos // o: of a PE's CPU for each operation that its NIC carries out, and for each answer
	Gap       Picos // g: between two messages of a NIC, sent or received
	NICAtomic Picos // of a NIC for an atomic, one after another: half of it between reading and writing
	Hit       Picos // an atomic of a CPU on a line that it has
	Poll      Picos // a look at memory, and what is done between two looks
}

// ConnectX3 is a cluster of two-socket hosts with FDR InfiniBand.
var ConnectX3 = Costs{
	Memory: map[string]Memory{
		"core":   {Line: Nanos(5), PerByte: Nanos(0.05)},
		"cache":  {Line: Nanos(30), PerByte: Nanos(0.1)},
		"numa":   {Line: Nanos(40), PerByte: Nanos(0.1)},
		"socket": {Line: Nanos(40), PerByte: Nanos(0.1)},
		"host":   {Line: Nanos(100), PerByte: Nanos(0.15)},
	},
	Network:   []Link{{Latency: Nanos(800), PerByte: Nanos(0.18)}, {Latency: Nanos(1100), PerByte: Nanos(0.18)}},
	Loopback:  Link{Latency: Nanos(600), PerByte: Nanos(0.18)},
	Overhead:  Nanos(100),
	Gap:       Nanos(30),
	NICAtomic: Nanos(380),
	Hit:       Nanos(6),
	Poll:      Nanos(20),
}
