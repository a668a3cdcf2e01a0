package sim

import (
	"context"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// Body is the program of one PE.
type Body = func(ctx context.Context, w *pgas.World) error

// Atomics selects whether the atomics of CPUs and of NICs are atomic to each other.
type Atomics uint8

const (
	// Unified atomics are atomic to each other. Those on the PE's own host are the CPU's.
	Unified Atomics = iota
	// Split atomics are the NIC's, on the PE's own host by loopback. To a CPU, one is a read and a later write.
	// Contexts with pgas.ByCPU() use the CPU on the PE's own host.
	Split
)

// Config selects what is simulated.
type Config struct {
	Seed uint64
	// Topology is a list as in PGAS_TOPO, with a count for each level: "numa:4,host:2,rack:16". Empty: each
	// PE has a host of its own.
	Topology string
	Costs    *Costs // nil: Aries
	Atomics  Atomics
	// Adversary makes every step take a random time, and unordered operations take effect in any order.
	Adversary bool
	Deaths    []Death
	Delays    []Delay
	// Detection is the time from the death of a PE until the other PEs are told; 0: 100 ms.
	Detection time.Duration
	// HeapMax is how much a PE can allocate; 0: 16 MiB.
	HeapMax uint64
	// Check makes the PEs check their references, as PGAS_CHECK=1 does.
	Check bool
	// Races looks for races between the PEs, as PGAS_CHECK=race does: a race fails the run. It sees more than the run
	// at hand shows, since it asks which accesses are ordered. Plain loads and stores are not seen.
	Races bool
	// Stats makes the PEs count what they do, as PGAS_STATS=1 does: World.Stats has the counts, in virtual time.
	Stats bool
	// MaxEvents ends a run that does not end itself; 0: 100 million, which takes about a minute.
	MaxEvents uint64
	// Reduce makes Explore leave out orders that differ only in steps which do not touch the same
	// memory (partial-order reduction). The body must call Shares for what the simulator does not see.
	Reduce bool
	// Trace gets a line for each step.
	Trace io.Writer
	// Timeline gets what PEs waited for, on whom and when, when a Run has ended: the file of pgasrun -trace, in virtual
	// time. Explore ignores it.
	Timeline io.Writer
	// TimelineEvents is how many events of each PE it has at most; later ones are counted and dropped. 0: 65,536, less
	// for each of more than 16 PEs.
	TimelineEvents int
}

// Death is the end of a PE.
type Death struct {
	PE int
	At time.Duration
	// After, if it is not 0, makes the PE die when so many events have happened, and not at a time. The events before
	// are those of a run without the death. Explore lets PEs die at every moment, whatever At and After are.
	After uint64
}

// Delay is a time in which a PE computes nothing, as if its CPU were another's.
type Delay struct {
	PE  int
	At  time.Duration
	For time.Duration
}

// Report counts what happened in a run.
type Report struct {
	Time   time.Duration // virtual time that has passed
	Ops    uint64        // operations on memory
	Events uint64        // steps of the simulator
}

const defaultMaxEvents = 100_000_000
