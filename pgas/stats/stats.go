// Package stats is what a PE has counted of itself, as data: World.Stats of package pgas returns a PE, `pgasrun -stats
// -json` prints one of each, and package metrics publishes them.
//
// All numbers but the heap's are zero unless something is recorded: see PE.Recorded. Every counter counts from the
// moment at which the PE has joined the job. The numbers of a PE that runs are not of one moment: it may be counting.
//
//ci:norace
package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// PE is what one PE has counted.
type PE struct {
	PE int `json:"pe"`

	// Recorded reports whether the PE records what it does: with pgasrun -stats, -metrics, -ui and -trace, and
	// with PGAS_STATS=1. Without that only PE and Heap say something.
	Recorded bool `json:"recorded"`

	Heap Heap `json:"heap"`

	// Kinds is what the PE has done to all PEs, itself included, by the kind of operation; kinds without an operation
	// are left out. The kinds are
	//
	//	put       puts, strided ones too, each of which is one operation
	//	get       gets, strided ones too
	//	atomic    atomics whose old value nobody wants, updates of a signal alone too
	//	fetch     atomics that return a value
	//	signal    puts with a signal, whose 8 bytes count too
	//	notified  puts, gets and atomics that leave a note at their target
	//	runtime   messages of the runtime between hosts: those of collectives, and of waits for them
	//
	// Plain loads and stores through Local and Ptr are not counted, nor is what collectives move inside of a host.
	Kinds map[string]Traffic `json:"kinds"`

	// Peers is the same by target, in the order of PEs; PEs without an operation and a wait are left out.
	Peers []Peer `json:"peers"`

	Messages Messages `json:"messages"`

	// Blocked is how often and how long goroutines of the PE were blocked, by cause: barrier, lock, wait, quiet, get, …
	// and each collective by its name. A wait counts when it ends; those of several goroutines at once all count.
	Blocked map[string]Wait `json:"blocked"`

	Locks    Locks    `json:"locks"`
	Notes    Notes    `json:"notes"`
	Coherent Coherent `json:"coherent"`
}

// Heap is how the PE's symmetric heap is used, the runtime's own part of it apart. It is known without a record.
type Heap struct {
	InUse uint64 `json:"in_use_bytes"` // bytes of live allocations, padding included
	High  uint64 `json:"high_bytes"`   // bytes from the first allocation on that were ever in use
}

// Traffic is a number of operations and the bytes that they have moved. Bytes of an atomic are those of its word.
type Traffic struct {
	Operations uint64 `json:"operations"`
	Bytes      uint64 `json:"bytes"`
}

func (t *Traffic) add(o Traffic) {
	t.Operations += o.Operations
	t.Bytes += o.Bytes
}

// Peer is what the PE has done to one PE of the job.
type Peer struct {
	PE      int                `json:"pe"`
	Kinds   map[string]Traffic `json:"kinds"`
	Blocked time.Duration      `json:"blocked_ns"` // the time blocked for that PE, by waits that know their PE
}

// Total returns the traffic of all kinds.
func (p Peer) Total() (t Traffic) {
	for _, k := range p.Kinds {
		t.add(k)
	}
	return t
}

// Messages are those that carry this PE's operations to other hosts. Answers and acknowledgements are not among them.
type Messages struct {
	Sent       uint64 `json:"sent"`
	Bytes      uint64 `json:"bytes"`      // the bytes of the operations, with their heads
	Operations uint64 `json:"operations"` // the number of operations; a large put or get is one for each of its pieces
}

// MeanBytes returns how full messages leave: the bytes of one in the mean, 0 if there is none.
func (m Messages) MeanBytes() float64 { return ratio(m.Bytes, m.Sent) }

// MeanOperations returns how many operations a message has in the mean, 0 if there is none.
func (m Messages) MeanOperations() float64 { return ratio(m.Operations, m.Sent) }

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Wait is how often and how long a PE was blocked.
type Wait struct {
	Count uint64        `json:"count"`
	Time  time.Duration `json:"time_ns"`
}

// Locks are acquisitions of locks: of pgas.Lock and of package locks, also those by readers.
type Locks struct {
	Alone  uint64 `json:"alone"`  // found the lock free
	Waited uint64 `json:"waited"` // came behind another holder, or had to try again

	// HandOvers are the acquisitions of which the lock knows from which other PE it came, by the innermost level of the
	// topology that has both PEs, the machine first.
	HandOvers []HandOver `json:"hand_overs"`
}

// HandOver is how often a lock came from another PE of the same element of a level, and of no smaller one.
type HandOver struct {
	Level string `json:"level"`
	Count uint64 `json:"count"`
}

// Notes are notifications that requests of package notify have taken.
type Notes struct {
	Matched uint64 `json:"matched"`
	// of these, those that were found when no request was under way that asks for them
	Unexpected uint64 `json:"unexpected"`
}

// Coherent is what package dsm has done, as of the PE's last fence, acquire or release of a region.
type Coherent struct {
	Faults   uint64 `json:"faults"`         // page faults of mode Paged
	Fetched  uint64 `json:"pages_fetched"`  // copies of pages or blocks that were fetched
	Released uint64 `json:"pages_released"` // pages or blocks that were released changed
}

// Of returns what c says.
func Of(c record.Counts) PE {
	n := &c.Counters
	p := PE{
		PE: c.PE, Recorded: true,
		Heap:     Heap{n[record.HeapInUse], n[record.HeapHigh]},
		Kinds:    map[string]Traffic{},
		Peers:    []Peer{},
		Messages: Messages{n[record.Messages], n[record.MessageBytes], n[record.MessageOps]},
		Blocked:  map[string]Wait{},
		Locks:    Locks{Alone: n[record.LocksAlone], Waited: n[record.LocksWaited], HandOvers: []HandOver{}},
		Notes:    Notes{n[record.NotesMatched], n[record.NotesUnexpected]},
		Coherent: Coherent{n[record.Faults], n[record.PagesFetched], n[record.PagesReleased]},
	}
	for cause, w := range c.Waits {
		p.Blocked[cause] = Wait{w.Count, w.Time}
	}
	for i, level := range c.Levels {
		if moves := n[int(record.LockMoves)+i]; moves > 0 {
			p.Locks.HandOvers = append(p.Locks.HandOvers, HandOver{level, moves})
		}
	}
	for i := range c.Peers {
		p.addPeer(&c.Peers[i])
	}
	return p
}

func (p *PE) addPeer(from *record.Traffic) {
	to := Peer{PE: from.Peer, Kinds: map[string]Traffic{}, Blocked: from.Waited}
	for k := range record.NumKinds {
		if from.Ops[k] == 0 {
			continue
		}
		t := Traffic{from.Ops[k], from.Bytes[k]}
		to.Kinds[k.String()] = t
		all := p.Kinds[k.String()]
		all.add(t)
		p.Kinds[k.String()] = all
	}
	p.Peers = append(p.Peers, to)
}

// Total returns the traffic of all kinds with all PEs.
func (p PE) Total() (t Traffic) {
	for _, k := range p.Kinds {
		t.add(k)
	}
	return t
}

// Causes returns the causes in Blocked, the longest time first.
func (p PE) Causes() []string {
	causes := make([]string, 0, len(p.Blocked))
	for cause := range p.Blocked {
		causes = append(causes, cause)
	}
	slices.SortFunc(causes, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Blocked[b].Time, p.Blocked[a].Time), cmp.Compare(a, b))
	})
	return causes
}

// KindNames lists the kinds of operations in the order of their description.
func KindNames() []string {
	var names []string
	for k := range record.NumKinds {
		names = append(names, k.String())
	}
	return names
}
