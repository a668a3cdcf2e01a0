package dsm

// A Region, and what it tells of itself. open.go opens and closes it.

import (
	"fmt"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
)

// A Region is memory that the PEs of a job access as if it were one. Its methods may be called by several goroutines.
type Region struct {
	w      *pgas.World
	o      Options
	choice protocols.Choice
	mode   Mode
	me, n  int

	memory   regionMemory
	fences   protocol.State
	observed observed

	prefetches background
	closed     bool
	forget     func() bool // withdraws release from what the end of the World runs
}

// observed is what checks and counters keep of a region.
type observed struct {
	windows  *windows // nil: views are not checked
	recorded recorded
}

// recorded is what the World has of the counters.
type recorded struct{ faults, fetched, released uint64 }

// ensure makes blocks valid, and writable if write is set. A fence of another goroutine may drop blocks again at once.
func (r *Region) ensure(lo, hi int32, write bool) {
	if r.fences.Cache.Has(lo, hi, write) {
		return
	}
	r.fences.Bring(lo, hi)
	if write {
		r.fences.Cache.Writable(lo, hi)
	} else {
		r.fences.Cache.Ready(lo, hi)
	}
}

// Mode returns how accesses reach the protocol: Shared, Paged or Soft.
func (r *Region) Mode() Mode { return r.mode }

// World returns the World that the region was opened in.
func (r *Region) World() *pgas.World { return r.w }

// String describes the region in a line.
func (r *Region) String() string {
	s := fmt.Sprintf("coherent region of %d bytes in %s of %d, mode %v", r.o.Bytes, plural.Count(r.fences.Blocks, "block"), r.o.Block, r.mode)
	if r.mode == Shared {
		return s
	}
	return s + fmt.Sprintf(", protocol %v, %s, lease %d", r.choice.Protocol, plural.Count(r.o.Notices, "notice"), r.o.Lease)
}

// HeapRanges returns the ranges of offsets of the symmetric heap, the end excluded, in which r keeps blocks for other
// PEs. They are the same on all PEs. A skeleton of a program passes them to sim.Weigh: its blocks count as the
// program's then, and the words of the protocol as what they are.
func (r *Region) HeapRanges() [][2]uint64 {
	r.mustBeOpen("Region.HeapRanges")
	pub, master := r.fences.Pub.Offset(), r.fences.Source.Offset()
	ranges := [][2]uint64{{pub, pub + r.o.Bytes}}
	if master != pub {
		ranges = append(ranges, [2]uint64{master, master + r.o.Bytes})
	}
	return ranges
}

// pageable returns why this PE cannot use page faults, or nil.
func (r *Region) pageable() error {
	switch {
	case r.fences.Simulated:
		return fmt.Errorf("the simulator has no page faults")
	case r.choice.Protocol != protocols.Floating:
		return fmt.Errorf("protocol %v has no page faults: use Mode Soft", r.choice.Protocol)
	}
	return pageable(r.o.Block)
}

// whySoft returns why page faults are not used.
func (r *Region) whySoft() string {
	if err := r.pageable(); err != nil {
		return err.Error()
	}
	return "Options.Mode or " + EnvMode + " asks for Soft"
}

// mustBeOpen panics with *pgas.UsageError in a call of op on a region that is nil or closed.
func (r *Region) mustBeOpen(op string) {
	switch {
	case r == nil:
		misuse(op, "a nil *Region: Open makes one")
	case r.closed:
		misuse(op, "the region is closed")
	}
}
