package lockbench

// The locks that are compared: those of package locks, and variants that one bench or another makes.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

// Names of what is compared besides locks of package locks.
const (
	rmaRWSeq = "RMA-RW-seq"
	foMPIA   = "foMPI-A"
	mcs      = "MCS"
	mcsCAS   = "MCS-CAS"
	spin     = "spin"
)

// A kind is a lock that is compared. Its name and its phrase are those of package kinds, or its own.
type kind struct {
	kinds.Kind
	// alloc is collective, and so is free. It is nil if only some benches know how to make the lock.
	alloc func(ctx context.Context, w *pgas.World, o kinds.Options) (l locks.Lock, free func(context.Context) error, err error)
}

// Row makes kinds the rows of a table.
func (k kind) Row() (name, doc string) { return k.Name, k.Doc }

// compared are the locks in the order of -list: by paper, and then variants.
var compared = slices.Concat(ofPapers(), variants)

// ofPapers returns the locks of package locks that need no server, and behind RMA-RW the same as its paper has it.
func ofPapers() (all []kind) {
	for _, paper := range kinds.Papers() {
		for _, k := range kinds.All() {
			if k.Paper != paper || k.Serves {
				continue
			}
			all = append(all, kind{k, k.Alloc})
			if k.Counters {
				seq := k
				seq.Name, seq.Doc = rmaRWSeq, "the same, its writers at one counter after the other, as in the paper"
				all = append(all, kind{seq, func(ctx context.Context, w *pgas.World, o kinds.Options) (locks.Lock, func(context.Context) error, error) {
					o.Sequential = true
					return k.Alloc(ctx, w, o)
				}})
			}
		}
	}
	return all
}

// variants are made by the benches that compare them.
var variants = []kind{
	{Kind: kinds.Kind{Name: foMPIA, Doc: "no lock: atomics only, for the hashtable", Readers: true}},
	{Kind: kinds.Kind{Name: kinds.SRSL, Doc: kinds.Of(kinds.SRSL).Doc + ": for basic and cascade", Readers: true}},
	{Kind: kinds.Kind{Name: mcs, Doc: "of a table: a queue of PEs"}},
	{Kind: kinds.Kind{Name: mcsCAS, Doc: "of a table: a queue of PEs, entered by compare-swap, as the paper's MCS"}},
	{Kind: kinds.Kind{Name: spin, Doc: "of a table: one word, tried without a pause"}},
}
