package dsm

// Opening and closing a region, and the choice of its mode.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// A Region is memory that the PEs of a job access as if it were one. Its methods may be called by several goroutines.
type Region struct {
	w      *pgas.World
	o      Options
	mode   Mode
	me, n  int
	blocks int32
	shift  uint // of the size of a block
	ctx    *pgas.Context

	memory []byte // the region as this PE accesses it
	soft   *soft  // in mode Soft
	paged  *paged // in mode Paged
	cache  cache  // nil in mode Shared
	used   uint64 // bytes of the arrays so far
	arrays arrays
	closed bool
	forget func() bool                   // withdraws release from what the end of the World runs
	frees  []func(context.Context) error // of the region's symmetric memory
	shown  shown                         // what this PE may be waiting for
	waits  context.Context               // of waits that do not end with a caller's context

	// the protocol, in this PE's turn of fences
	protocol protocol
	turn     fenceTurn
	// unfinished is what the holder of the turn has not done of its release because the context of the release has
	// ended.
	unfinished func(context.Context) error
	behind     behind
	pub        pgas.Slice[byte] // each PE's twins: blocks as it has released them, or as it fetched them before it wrote
	twins      []byte           // this PE's part of pub
	master     pgas.Slice[byte] // for protocols with fixed homes: blocks as all PEs have released them
	words      words
	asked      []bool // by block: this PE's lock word says something
	now        uint64 // the logical time up to which this PE has acquired
	notices    notices
	exchanger
	scratch scratch
	mapped  [][]byte // in mode Paged, by PE: its part of pub, or nil if the PE is on another host

	prefetches background
	stats      counters
	windows    *windows // nil: views are not checked
}

// Open makes a region, all zeros. It is collective, and all PEs give the same Options. What it takes of the symmetric
// heap is address space: a block takes memory on the PEs that write it, and 32 bytes of words.
//
// Errors: *pgas.MismatchError if Options differ between PEs, *pgas.HeapFullError if the region does not fit the
// symmetric heap, and an error with the remedy if Options.Mode cannot be had.
func Open(ctx context.Context, w *pgas.World, o Options) (*Region, error) {
	asked := o.Mode
	o = o.completed()
	mode, err := modeFromEnv(asked)
	if err != nil {
		return nil, err
	}
	o.Mode = mode
	if err := pgas.Agree(ctx, w, "dsm.Open", fmt.Sprintf("%+v", o)); err != nil {
		return nil, err
	}
	c, err := w.NewContext()
	if err != nil {
		return nil, err
	}
	r := &Region{
		w: w, o: o, me: w.PE(), n: w.NPEs(), blocks: int32(o.Bytes / uint64(o.Block)), ctx: c, turn: fenceTurn{woken: make(chan struct{}, 1)},
		notices: notices{limit: o.Notices},
	}
	if o.Check {
		r.windows = &windows{}
	}
	r.waits = r.shows(context.Background())
	r.behind.ctx, r.behind.cancel = context.WithCancel(r.waits)
	for 1<<r.shift < o.Block {
		r.shift++
	}
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

// abandon gives back what a region has that could not be opened.
func (r *Region) abandon(ctx context.Context) error {
	return errors.Join(r.release(), r.free(ctx), r.ctx.Close())
}

// allocate chooses the mode and allocates what the region has of the symmetric heap.
func (r *Region) allocate(ctx context.Context) error {
	pub, err := r.allocateBlocks(ctx)
	if err != nil {
		return err
	}
	r.pub, r.twins = pub.All().On(r.ctx), pub.Local()
	if r.mode, err = r.choose(ctx); err != nil {
		return err
	}
	if r.mode == Shared {
		r.memory = pub.Ptr(0)
		return r.w.Barrier(ctx) // the memory is zero on all PEs
	}
	if err := r.allocWords(ctx); err != nil {
		return err
	}
	if err := r.openExchange(ctx); err != nil {
		return err
	}
	return r.openProtocol(ctx)
}

// startCache makes this PE's cache.
func (r *Region) startCache() error {
	if r.mode == Paged {
		for pe := range r.n {
			r.mapped = append(r.mapped, r.pub.Ptr(pe))
		}
		return r.openPaged()
	}
	r.soft = newSoft(r.o.Block, int(r.blocks), r.n, r.twins, r.stepwise())
	r.soft.transient = r.o.Protocol == Uncached
	if r.o.Check {
		r.soft.memory, r.soft.free = remappable(len(r.soft.memory))
	}
	r.cache, r.memory = r.soft, r.soft.memory
	return nil
}

// allocate allocates symmetric memory that ends with the region.
func allocate[T any](ctx context.Context, r *Region, n int) (pgas.Sym[T], error) {
	s, err := pgas.Alloc[T](ctx, r.w, n)
	if err == nil {
		r.frees = append(r.frees, s.Free)
	}
	return s, err
}

// allocateBlocks allocates symmetric memory for all blocks, which ends with the region.
func (r *Region) allocateBlocks(ctx context.Context) (pgas.Sym[byte], error) {
	s, err := pgas.AllocAligned[byte](ctx, r.w, int(r.o.Bytes), r.o.Block)
	if err == nil {
		r.frees = append(r.frees, s.Free)
	}
	return s, err
}

func (r *Region) allocWords(ctx context.Context) error {
	n := int(r.blocks)
	all, err := allocate[uint64](ctx, r, 4*n)
	if err != nil {
		return err
	}
	part := func(i int) pgas.AtomicSlice[uint64] { return pgas.AtomicsOf(all.Range(i*n, (i+1)*n)).On(r.ctx) }
	r.words = words{
		version: part(0), lock: part(1), grant: part(2), hint: part(3),
		versionAt: all.Range(0, n).Offset(), hintAt: all.Range(3*n, 4*n).Offset(),
	}
	r.asked = make([]bool, n)
	return nil
}

// stepwise returns how a PE whose memory accesses are simulated changes its part of pub, or nil.
func (r *Region) stepwise() func(at int, data []byte) {
	if !r.simulated() {
		return nil
	}
	return func(at int, data []byte) {
		r.pub.Range(at, at+len(data)).Put(r.me, data)
		r.mustQuietPE(r.me)
	}
}

// simulated reports whether other PEs are reached by a transport that must see every access.
func (r *Region) simulated() bool { return r.n > 1 && r.w.TransportTo((r.me+1)%r.n) == "sim" }

// choose returns the region's mode, which is the same on all PEs.
func (r *Region) choose(ctx context.Context) (Mode, error) {
	oneMapping := uint64(0)
	if r.pub.Ptr(0) != nil && !r.simulated() {
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
	if uint64(r.me) == refuser && !r.simulated() {
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

// openProtocol makes the protocol, with the memory that it needs.
func (r *Region) openProtocol(ctx context.Context) (err error) {
	if r.o.Protocol == Floating {
		r.protocol = &floating{r}
		return nil
	}
	if err := r.openMaster(ctx); err != nil {
		return err
	}
	switch r.o.Protocol {
	case FixedHome:
		r.protocol = &fixedHome{r, make(versionNumbers, r.blocks)}
	case Directory:
		r.protocol, err = r.openDirectory(ctx)
	case Classified:
		r.protocol, err = r.openClassified(ctx)
	case Uncached:
		r.protocol = &uncached{r}
	}
	return err
}

// fetchSource returns where homes keep the newest version of n blocks from b on.
func (r *Region) fetchSource(b, n int32) pgas.Slice[byte] {
	if r.o.Protocol == Floating {
		return r.pubOf(b, n)
	}
	return r.master.Range(int(b)*r.o.Block, int(b+n)*r.o.Block)
}

// Mode returns how accesses reach the protocol: Shared, Paged or Soft.
func (r *Region) Mode() Mode { return r.mode }

// World returns the World that the region was opened in.
func (r *Region) World() *pgas.World { return r.w }

// String describes the region in a line.
func (r *Region) String() string {
	s := fmt.Sprintf("coherent region of %d bytes in %s of %d, mode %v", r.o.Bytes, plural.Count(r.blocks, "block"), r.o.Block, r.mode)
	if r.mode == Shared {
		return s
	}
	return s + fmt.Sprintf(", protocol %v, %s, lease %d", r.o.Protocol, plural.Count(r.o.Notices, "notice"), r.o.Lease)
}

// Close ends the region. It is collective. Its arrays must not be accessed any more: in mode Paged that faults, at least
// until this PE has closed 16 further regions, in mode Soft it panics with *pgas.UsageError. A region that is not closed
// ends with its World. Errors: those of World.Barrier.
func (r *Region) Close(ctx context.Context) error {
	r.mustBeOpen("Region.Close")
	if err := r.w.Barrier(ctx); err != nil {
		return err
	}
	if r.me == 0 && hook.Settings(r.w).DSMStats {
		fmt.Fprintf(os.Stderr, "pgas: %v; on PE 0: %v\n", r, r.Stats())
	}
	if err := r.turn.take(ctx); err != nil { // a release may go on in the background
		return err
	}
	r.turn.give()
	r.record()
	r.forget()
	if err := r.release(); err != nil {
		return err
	}
	if err := r.free(ctx); err != nil {
		return err
	}
	return r.ctx.Close()
}

// free frees the region's symmetric memory, when what was issued to it is complete. It is collective.
func (r *Region) free(ctx context.Context) error {
	if err := r.ctx.Quiet(ctx); err != nil {
		return err
	}
	for _, free := range r.frees {
		if err := free(ctx); err != nil {
			return err
		}
	}
	return nil
}

// release gives back what the region has besides symmetric memory. It may be called twice.
func (r *Region) release() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.behind.end(r.simulated())
	r.prefetches.wait()
	r.windows.close()
	if r.cache == nil {
		return nil
	}
	return r.cache.close()
}

func (r *Region) mustBeOpen(op string) {
	switch {
	case r == nil:
		misuse(op, "a nil *Region: Open makes one")
	case r.closed:
		misuse(op, "the region is closed")
	}
}
