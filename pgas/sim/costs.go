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

// Sources. What has none is marked as an estimate: do not draw a conclusion that hangs on it.
//
//	[BH]     R. Belli, T. Hoefler: Notified Access, IPDPS 2015, section V and table I: Cray XC30, uGNI
//	[floor]  measured by tests/peers/floor.c on two cores of an AMD EPYC: the trip of a cache line, a
//	         locked compare-swap, a copy of 64 KiB
//	[CX3]    Mellanox, ConnectX-3 VPI product brief: MPI ping latency of 1 µs
//	[FDR]    InfiniBand FDR 4x: 4 lanes of 14.0625 Gb/s, 64 of 66 bits are data
//	[SX]     Mellanox, SX6036 product brief: 170 ns from port to port
//	[HERD]   A. Kalia, M. Kaminsky, D. Andersen: Using RDMA Efficiently for Key-Value Services, SIGCOMM
//	         2014: a ConnectX-3 serves 26 million small reads a second
//	[KKA]    the same: Design Guidelines for High Performance RDMA Systems, USENIX ATC 2016: a sequencer
//	         of fetch-and-adds on one word of an InfiniBand NIC does 2.24 million a second

// memory is [floor] for PEs below one last-level cache, which are the hosts of both machines per socket.
// Between two sockets: estimate, three times as long.
var memory = map[string]Memory{
	"core":   {Line: Nanos(5), PerByte: Nanos(0.0175)}, // estimate: from one hardware thread to the other
	"cache":  {Line: Nanos(45), PerByte: Nanos(0.0175)},
	"numa":   {Line: Nanos(45), PerByte: Nanos(0.0175)},
	"socket": {Line: Nanos(45), PerByte: Nanos(0.0175)},
	"host":   {Line: Nanos(135), PerByte: Nanos(0.0175)},
}

// Aries is a Cray XC30: the machine of the papers on RMA locks and on notified access.
var Aries = Costs{
	Memory:    memory,
	Network:   []Link{{Latency: Nanos(1020), PerByte: Nanos(0.105)}}, // [BH], FMA
	Loopback:  Link{Latency: Nanos(820), PerByte: Nanos(0.105)},      // estimate: two hops less, of 100 ns
	Overhead:  Nanos(290),                                            // [BH], t_na
	Gap:       Nanos(10),                                             // estimate
	NICAtomic: Nanos(50),                                             // estimate
	Hit:       Nanos(2.4),                                            // [floor]
	Poll:      Nanos(20),                                             // estimate
}

// ConnectX3 is hosts with FDR InfiniBand, as in the paper on ALock.
var ConnectX3 = Costs{
	Memory: memory,
	Network: []Link{
		{Latency: Nanos(800), PerByte: Nanos(0.147)},  // [CX3] less twice the overhead; [FDR]
		{Latency: Nanos(1140), PerByte: Nanos(0.147)}, // two switches more: [SX]
	},
	Loopback:  Link{Latency: Nanos(630), PerByte: Nanos(0.147)}, // a switch less: [SX]
	Overhead:  Nanos(100),                                       // estimate: a doorbell, or a look at a completion
	Gap:       Nanos(38),                                        // [HERD]
	NICAtomic: Nanos(446),                                       // [KKA]
	Hit:       Nanos(2.4),                                       // [floor]
	Poll:      Nanos(20),                                        // estimate
}
