// Package kinds is the table of the locks of package locks: what each is called, which paper it is from, and how it is
// allocated. Benches, tests and docs/packages/locks.md read this table, so a new lock needs no other row.
//
//	kinds.go   the table
//	alloc.go   how the lock of each kind is allocated
//	papers.go  the papers
package kinds

import (
	"context"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

// The names of locks, as their papers spell them, and as users type them.
const (
	Spin   = "foMPI-Spin"
	SpinRW = "foMPI-RW"
	DMCS   = "D-MCS"
	ALock  = "ALock"
	RMAMCS = "RMA-MCS"
	RMARW  = "RMA-RW"
	NCoSED = "N-CoSED"
	DQNL   = "DQNL"
	SRSL   = "SRSL"
)

// An Order is the order in which a lock admits PEs that wait for it.
type Order int

const (
	Unordered     Order = iota // any order: a PE may starve
	ByNearness                 // near PEs first, within bounds
	ServedByGroup              // first come, first served among the PEs of the lock's host, and among all others
	FirstServed                // first come, first served; readers between the same two writers enter together
)

// A Kind is a lock of package locks.
type Kind struct {
	Name     string // one of the constants
	Type     string // the type of its handle in package locks
	Called   string // what a sentence calls one of them, with its article
	Doc      string // what the lock is, in a phrase
	Paper    Paper
	Section  string // the number of the section in the paper
	Order    Order
	Readers  bool // it is a locks.RWLock
	Baseline bool // it is there for comparison, as in its paper
	Serves   bool // a PE must serve it
	Counters bool // it takes TDC, TR and TW of Options
	Budgets  bool // it takes RemoteBudget and LocalBudget of Options

	alloc allocator
}

var all = []Kind{
	{
		Name: Spin, Type: "Spin", Called: "a foMPI-Spin lock", Doc: "one word, tried again and again",
		Paper: rmaLocks, Section: "5", Order: Unordered, Baseline: true, alloc: allocSpin,
	},
	{
		Name: SpinRW, Type: "SpinRW", Called: "a foMPI-RW lock", Doc: "the same with readers",
		Paper: rmaLocks, Section: "5", Order: Unordered, Readers: true, Baseline: true, alloc: allocSpinRW,
	},
	{
		Name: DMCS, Type: "DMCS", Called: "a D-MCS lock", Doc: "a queue of PEs",
		Paper: rmaLocks, Section: "2.4", Order: FirstServed, alloc: allocDMCS,
	},
	{
		Name: ALock, Type: "ALock", Called: "an ALock", Doc: "two queues: the host of the lock, and the others",
		Paper: aLock, Section: "5", Order: ServedByGroup, Budgets: true, alloc: allocALock,
	},
	{
		Name: RMAMCS, Type: "RMAMCS", Called: "an RMA-MCS lock", Doc: "a tree of queues along the topology",
		Paper: rmaLocks, Section: "3.5", Order: ByNearness, alloc: allocRMAMCS,
	},
	{
		Name: RMARW, Type: "RMARW", Called: "an RMA-RW lock", Doc: "such a tree, and a counter for readers",
		Paper: rmaLocks, Section: "3", Order: ByNearness, Readers: true, Counters: true, alloc: allocRMARW,
	},
	{
		Name: NCoSED, Type: "NCoSED", Called: "an N-CoSED lock", Doc: "one word for writers and readers",
		Paper: nCoSED, Section: "3.2", Order: FirstServed, Readers: true, alloc: allocNCoSED,
	},
	{
		Name: DQNL, Type: "DQNL", Called: "a DQNL lock", Doc: "a queue of PEs, entered by compare-swap",
		Paper: nCoSED, Section: "2.2.2", Order: FirstServed, Baseline: true, alloc: allocDQNL,
	},
	{
		Name: SRSL, Type: "SRSL", Called: "an SRSL lock", Doc: "a PE serves",
		Paper: nCoSED, Section: "2.2.1", Order: FirstServed, Readers: true, Baseline: true, Serves: true, alloc: allocSRSL,
	},
}

// All returns the kinds, in the order of the table.
func All() []Kind { return slices.Clone(all) }

// Of returns the kind of a name. It panics if there is none: names are the constants.
func Of(name string) Kind {
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		panic("kinds: no lock is called " + name)
	}
	return all[i]
}

// Bench returns what the kind is called in the name of a bench of pgasbench, such as dmcs in dmcs-contended.
func (k Kind) Bench() string { return strings.ToLower(k.Type) }

// Alloc allocates a lock and makes this PE's handle of it. It is collective, and so is free, which ends the lock.
// Errors: those of the Alloc… function of the lock, in package locks.
func (k Kind) Alloc(ctx context.Context, w *pgas.World, o Options) (l locks.Lock, free func(context.Context) error, err error) {
	return k.alloc(ctx, w, o)
}
