package dsm

// Opening and closing a region, and the choice of its mode.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gopgas/gopgas/dsm/internal/baseline"
	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
)

// Open makes a region, all zeros. It is collective, and all PEs give the same Options. What it takes of the symmetric
// heap is address space: a block takes memory on the PEs that write it, and 32 bytes of words.
//
// Errors: *pgas.MismatchError if Options differ between PEs, *pgas.HeapFullError if the region does not fit the
// symmetric heap, and an error with the remedy if Options.Mode cannot be had.
func Open(ctx context.Context, w *pgas.World, o Options) (*Region, error) {
	asked := o.Mode
	choice := protocols.From(ctx)
	o = o.completed()
	mode, err := modeFromEnv(asked)
	if err != nil {
		return nil, err
	}
	o.Mode = mode
	what := fmt.Sprintf("%+v", o)
	if choice != (protocols.Choice{}) {
		what += fmt.Sprintf(", %+v", choice)
	}
	if err := pgas.Agree(ctx, w, "dsm.Open", what); err != nil {
		return nil, err
	}
	c, err := w.NewContext()
	if err != nil {
		return nil, err
	}
	r := &Region{w: w, o: o, choice: choice, me: w.PE(), n: w.NPEs()}
	if o.Check {
		r.observed.windows = &windows{}
	}
	r.memory.setBlock(o.Block)
	r.fences.Open(protocol.Config{
		World: w, Context: c, Block: o.Block, Blocks: int32(o.Bytes / uint64(o.Block)), Lease: o.Lease, Limit: o.Notices,
		Simulated: simulated(w), Elements: r.memory.elementsOf,
	})
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.abandon(ctx))
	}
	r.forget = w.AtClose(r.release)
	return r, nil
}

// open allocates the region's memory and starts its cache. It fails on all PEs, or on none.
func (r *Region) open(ctx context.Context) error {
	if err := r.allocate(ctx); err != nil || r.mode == Shared {
		return err
	}
	failed := r.startCache()
	succeeded := uint64(r.n)
	if failed != nil {
		succeeded = uint64(r.me)
	}
	first, err := r.least(ctx, succeeded)
	if err != nil || first[0] == uint64(r.n) {
		return errors.Join(failed, err)
	}
	if failed == nil {
		pe := int(first[0])
		failed = fmt.Errorf("dsm.Open: PE %d on %s could not open the region: see its error", pe, r.w.HostOf(pe))
	}
	return failed
}

// allocate chooses the mode and allocates what the region has of the symmetric heap.
func (r *Region) allocate(ctx context.Context) error {
	pub, err := r.fences.AllocPub(ctx)
	if err != nil {
		return err
	}
	if r.mode, err = r.choose(ctx); err != nil {
		return err
	}
	if r.mode == Shared {
		r.memory.bytes = pub.Ptr(0)
		return r.w.Barrier(ctx) // the memory is zero on all PEs
	}
	if err := r.fences.AllocWords(ctx); err != nil {
		return err
	}
	if r.choice == (protocols.Choice{}) {
		return r.fences.OpenFloating(ctx)
	}
	return baseline.Open(ctx, &r.fences, r.choice)
}

// startCache makes this PE's cache.
func (r *Region) startCache() error {
	m := &r.memory
	if r.mode == Paged {
		for pe := range r.n {
			r.fences.Near = append(r.fences.Near, r.fences.Pub.Ptr(pe))
		}
		p, err := openPaged(&r.fences, r.o.CacheMax)
		if err != nil {
			return err
		}
		r.fences.SetCache(p)
		m.paged, m.bytes = p, p.Memory()
		return nil
	}
	m.soft = newSoft(r.o.Block, int(r.fences.Blocks), r.n, twinsOf(&r.fences))
	m.soft.transient = r.fences.Traits.Transient
	if r.o.Check {
		m.soft.memory, m.soft.free = remappable(len(m.soft.memory))
	}
	r.fences.SetCache(m.soft)
	m.bytes = m.soft.memory
	return nil
}

// simulated reports whether other PEs are reached by a transport that must see every access.
func simulated(w *pgas.World) bool {
	return w.NPEs() > 1 && w.TransportTo((w.PE()+1)%w.NPEs()) == "sim"
}

// abandon gives back what a region has that could not be opened.
func (r *Region) abandon(ctx context.Context) error {
	return errors.Join(r.release(), r.fences.Free(ctx), r.fences.Context.Close())
}

// choose returns the region's mode, which is the same on all PEs.
func (r *Region) choose(ctx context.Context) (Mode, error) {
	oneMapping := uint64(0)
	if r.fences.Pub.Ptr(0) != nil && !r.fences.Simulated {
		oneMapping = 1
	}
	refuser := uint64(r.n) // the first PE that cannot use page faults
	why := r.pageable()
	if why != nil {
		refuser = uint64(r.me)
	}
	least, err := r.least(ctx, oneMapping, refuser)
	if err != nil {
		return 0, err
	}
	shareable, refuser := least[0] == 1, least[1]
	switch {
	case r.o.Mode == Soft:
		return Soft, nil
	case r.o.Mode == Shared && !shareable:
		return 0, fmt.Errorf("dsm.Open: mode shared needs all PEs on one host: use Auto, Paged or Soft")
	case r.o.Mode == Shared, r.o.Mode == Auto && shareable:
		return Shared, nil
	case refuser == uint64(r.n):
		return Paged, nil
	case r.o.Mode == Paged:
		if why == nil {
			why = fmt.Errorf("PE %d on %s cannot have it: see its error", refuser, r.w.HostOf(int(refuser)))
		}
		return 0, fmt.Errorf("dsm.Open: mode paged: %w", why)
	}
	if uint64(r.me) == refuser && !r.fences.Simulated {
		r.warn(why)
	}
	return Soft, nil
}

// least returns for each value the least one of all PEs.
func (r *Region) least(ctx context.Context, values ...uint64) ([]uint64, error) {
	s, err := pgas.Alloc[uint64](ctx, r.w, 2*len(values))
	if err != nil {
		return nil, err
	}
	copy(s.Local(), values)
	if err := pgas.MinReduce(ctx, r.w.Team(), s.Range(len(values), 2*len(values)), s.Range(0, len(values))); err != nil {
		return nil, err
	}
	return slices.Clone(s.Local()[len(values):]), s.Free(ctx)
}

// Close ends the region. It is collective. Its arrays must not be accessed any more: in mode Paged that faults, at
// least until this PE has closed 16 further regions, in mode Soft it panics with *pgas.UsageError. A region that is not
// closed ends with its World. Errors: those of World.Barrier.
func (r *Region) Close(ctx context.Context) error {
	r.mustBeOpen("Region.Close")
	if err := r.w.Barrier(ctx); err != nil {
		return err
	}
	if r.me == 0 && hook.Settings(r.w).DSMStats {
		fmt.Fprintf(os.Stderr, "pgas: %v; on PE 0: %v\n", r, r.Stats())
	}
	if err := r.fences.Turn.Take(ctx); err != nil { // a release may go on in the background
		return err
	}
	r.fences.Turn.Give()
	r.record()
	r.forget()
	if err := r.release(); err != nil {
		return err
	}
	if err := r.fences.Free(ctx); err != nil {
		return err
	}
	return r.fences.Context.Close()
}

// release gives back what the region has besides symmetric memory. It may be called twice.
func (r *Region) release() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.fences.End()
	r.prefetches.wait()
	r.observed.windows.close()
	if r.fences.Cache == nil {
		return nil
	}
	return r.fences.Cache.Close()
}

// warn says once why accesses are checked by software.
func (r *Region) warn(why error) {
	fmt.Fprintf(os.Stderr, "pgas: coherent memory is checked by software, since PE %d on %s cannot use page faults: %v; or use only View, Update, At and Set, and set %s=soft\n",
		r.me, r.w.HostOf(r.me), why, EnvMode)
}
