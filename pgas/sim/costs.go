package sim

// The costs of operations: the LogGP parameters of the simulated machines. This is the only file with
// such numbers, and each has its source.

import "time"

// Picos is a time in picoseconds: many wires carry a byte in less than a nanosecond.
type Picos int64

// Nanos returns n nanoseconds.
func Nanos(n float64) Picos { return Picos(n * 1000) }

// Duration returns p in full nanoseconds.
func (p Picos) Duration() time.Duration { return time.Duration(p / 1000) }

// Link is the network between two PEs.
type Link struct {
	Latency Picos // L: one way, without the overhead o
	PerByte Picos // G
}

// Memory is the memory that PEs of one host share.
type Memory struct {
	Line    Picos // moving a cache line from one PE's core to another's
	PerByte Picos // copying
}

// Costs are the parameters of a machine.
type Costs struct {
	// Memory is by the innermost level that two PEs of a host share: core, cache, numa, socket or host. A
	// level that is missing costs what the next one outwards costs. A host whose parts the topology does not
	// name is one socket.
	Memory map[string]Memory
	// Network is between hosts, the nearest ones first. The last entry is for all that are further apart.
	Network []Link
	// Loopback is from a host to itself by its NIC.
	Loopback Link

	Overhead  Picos // o: the initiator's CPU, for each operation that its NIC executes
	Answer    Picos // o: the initiator's CPU, for each reply that it waits for
	Gap       Picos // g: between two messages of a NIC, sent or received
	NICAtomic Picos // the NIC, for each atomic: half of it between its read and its write
	Hit       Picos // an atomic of a CPU on a line that its core has
	Poll      Picos // one poll of memory
	Receive   Picos // o: the CPU of a PE, for a change of its memory that it has waited for, besides Poll
	// Notify is the time to wake a PE by an interrupt, for each wait for the network: for a reply, its own puts, or a
	// change of its memory. 0: PEs poll.
	Notify Picos
}

// Sources. A number without one is marked as an estimate: do not draw a conclusion that depends on it.
//
//	[AB]     A. Baran (the first author of ALock), github.com/amandabaran/disco-skip, docs/clock-measurements.md,
//	         section 6a: measured on hosts of the paper (CloudLab r320: one Xeon E5-2450, ConnectX-3): a
//	         fetch-and-add takes 1.89 µs for the round trip; a NIC executes 2.70 million in a second, on one
//	         word or on many, and 26.5 million reads; one thread issues and completes 7.05 million reads
//	[AT]     J. De Gelas: Intel Xeon E5 Version 3, AnandTech 2014: a load from the last-level cache of a Xeon E5-2690
//	         takes 15 to 20 ns. A NIC writes to that cache, so a poll finds the data there
//	[BH]     R. Belli, T. Hoefler: Notified Access, IPDPS 2015, section V and table I: Cray XC30, uGNI
//	[FDR]    InfiniBand FDR 4x: 4 lanes of 14.0625 Gb/s, 64 of 66 bits are data
//	[floor]  measured by `pgasbench floor` on two cores of an AMD EPYC: a locked compare-swap, a copy of 64 KiB
//	[MCT]    github.com/LPD-EPFL/mctop, desc/lpdxeon2680.mct: compare-swaps of a line that another hardware thread
//	         has, on two Xeon E5-2680 v2 of 2.8 GHz: 52 cycles on the same core, 112 on the same socket, 308 on the
//	         other one
//	[NC]     S. Narravula et al.: N-CoSED, OSU-CISRC-4/07-TR29, table 1: MT25208 HCAs
//	[SDR]    InfiniBand SDR 4x: 4 lanes of 2.5 Gb/s, 8 of 10 bits are data
//	[SX]     Mellanox, SX6036 product brief: 170 ns from port to port
//	[XC]     B. Alverson et al.: Cray XC Series Network, WP-Aries01-1112: a NIC does a read or write of up to 64
//	         bytes every five cycles of 800 MHz; a hop adds 100 ns

// memory is [MCT] for lines, and [floor] for bytes. The hosts of the papers have one socket each.
var memory = map[string]Memory{
	"core":   {Line: Nanos(18.6), PerByte: Nanos(0.0175)},
	"cache":  {Line: Nanos(40), PerByte: Nanos(0.0175)},
	"numa":   {Line: Nanos(40), PerByte: Nanos(0.0175)},
	"socket": {Line: Nanos(40), PerByte: Nanos(0.0175)},
	"host":   {Line: Nanos(110), PerByte: Nanos(0.0175)},
}

// Aries is a Cray XC30: the machine of the papers on RMA locks and on notified access.
var Aries = Costs{
	Memory:    memory,
	Network:   []Link{{Latency: Nanos(1020), PerByte: Nanos(0.105)}}, // [BH], FMA
	Loopback:  Link{Latency: Nanos(820), PerByte: Nanos(0.105)},      // two hops less: [XC]
	Overhead:  Nanos(290),                                            // [BH], t_na
	Answer:    Nanos(70),                                             // [BH], o_r
	Gap:       Nanos(6.25),                                           // [XC]
	NICAtomic: Nanos(50),                                             // estimate
	Hit:       Nanos(2.4),                                            // [floor]
	Poll:      Nanos(20),                                             // [AT]
}

// ConnectX3 is hosts with FDR InfiniBand, as in the paper on ALock. Latencies are what is left of [AB]'s 1.89 µs.
var ConnectX3 = Costs{
	Memory: memory,
	Network: []Link{
		{Latency: Nanos(687), PerByte: Nanos(0.147)},  // [AB]; [FDR]
		{Latency: Nanos(1027), PerByte: Nanos(0.147)}, // two switches more: [SX]
	},
	Loopback:  Link{Latency: Nanos(517), PerByte: Nanos(0.147)}, // a switch less: [SX]
	Overhead:  Nanos(71),                                        // [AB], half of it
	Answer:    Nanos(71),                                        // the other half
	Gap:       Nanos(37.7),                                      // [AB]
	NICAtomic: Nanos(370),                                       // [AB]
	Hit:       Nanos(2.4),                                       // [floor]
	Poll:      Nanos(20),                                        // [AT]
}

// MT25208 is hosts with the InfiniBand of the paper on N-CoSED, with waiters that poll. The round trip of an atomic
// takes 5.78 µs, and a message 4.07 µs until the receiver has it [NC]: that is more than half of 5.78, since
// receiving costs the CPU more than a reply. Receive is that cost. The parts of an atomic's time are not known:
// Overhead, Answer, Gap and NICAtomic are estimates, and Latency and Receive are what remains.
var MT25208 = Costs{
	Memory:    memory,
	Network:   []Link{{Latency: Nanos(2132), PerByte: Nanos(1)}},
	Loopback:  Link{Latency: Nanos(2132), PerByte: Nanos(1)}, // estimate: no less
	Overhead:  Nanos(500),                                    // estimate
	Answer:    Nanos(500),                                    // estimate
	Gap:       Nanos(500),                                    // estimate
	NICAtomic: Nanos(500),                                    // estimate
	Hit:       Nanos(2.4),                                    // [floor]
	Poll:      Nanos(20),                                     // estimate
	Receive:   Nanos(1290),                                   // [NC], 4.07 less the rest, for 128 bytes
}

// MT25208Notified is the same with waiters that sleep and are woken by an interrupt: 7.11 µs more for a
// message, 7.19 µs for an atomic [NC].
var MT25208Notified = func() Costs {
	c := MT25208
	c.Notify = Nanos(7150)
	return c
}()
