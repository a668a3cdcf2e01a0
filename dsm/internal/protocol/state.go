package protocol

// State is one PE's part in the protocol of a region. This file declares it and allocates its symmetric memory; the
// files above it act on it.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Config is what the PEs agree on when they open a region.
type Config struct {
	World     *pgas.World
	Context   *pgas.Context          // the context of the region's operations
	Block     int                    // bytes of a block
	Blocks    int32                  // number of blocks
	Lease     uint64                 // logical time that a copy stays valid without a notice
	Limit     int                    // the limit of the notices that travel with one synchronization
	Simulated bool                   // the transport must see every access
	Elements  func(block int) string // names the elements of a block, for reports
}

// State is one PE's part in the protocol of a region: its turn of fences, what it has learned, and what it has under
// way.
type State struct {
	Config
	Me, N    int
	Protocol Protocol
	Traits   Traits
	Cache    Cache // nil in mode Shared
	Counters Counters

	Turn    FenceTurn
	Now     uint64  // the logical time up to which this PE has acquired
	Notices Notices // what the next fence passes on

	Pub    pgas.Slice[byte] // each PE's twins: blocks as it has released them, or as it fetched them before it wrote
	Twins  []byte           // this PE's part of Pub
	Source pgas.Slice[byte] // blocks as their homes hand them out: Pub, or the master copies of fixed homes
	Near   [][]byte         // the part of Pub of each PE, or nil if the PE is on another host; nil in mode Soft
	Words  Words

	Exchanger Exchanger
	// unfinished is the rest of a release whose context has ended before the release. The holder of the turn has left
	// it.
	unfinished func(context.Context) error
	behind     behind
	renewer    Renewer         // the Cache, if its leases are renewed from here; nil otherwise
	background context.Context // the context of waits that do not end with a caller's context
	asked      []bool          // for each block, this PE's lock word says something
	quiet      bool            // the last barrier had no notices
	agreed     uint64          // at least the number of every notice that was left out, as all PEs know
	scratch    scratch
	shown      shown
	frees      []func(context.Context) error
}

// Open prepares a State for the allocations of a region.
func (s *State) Open(c Config) {
	s.Config, s.Me, s.N = c, c.World.PE(), c.World.NPEs()
	s.Turn.woken = make(chan struct{}, 1)
	s.Notices.limit = c.Limit
	s.background = s.shows(context.Background())
	s.behind.ctx, s.behind.cancel = context.WithCancel(s.background)
}

// SetCache makes c the copies of this PE.
func (s *State) SetCache(c Cache) {
	s.Cache = c
	s.renewer, _ = c.(Renewer)
}

// End waits for a release that goes on in the background. Nothing is released after it.
func (s *State) End() { s.behind.end(s.Simulated) }

// Alloc allocates symmetric memory that ends with the region.
func Alloc[T any](ctx context.Context, s *State, n int) (pgas.Sym[T], error) {
	m, err := pgas.Alloc[T](ctx, s.World, n)
	if err == nil {
		s.frees = append(s.frees, m.Free)
	}
	return m, err
}

// AllocBlocks allocates symmetric memory for all blocks. It ends with the region.
func (s *State) AllocBlocks(ctx context.Context) (pgas.Sym[byte], error) {
	m, err := pgas.AllocAligned[byte](ctx, s.World, s.Block*int(s.Blocks), s.Block)
	if err == nil {
		hook.ExemptFromRaces(m)
		s.frees = append(s.frees, m.Free)
	}
	return m, err
}

// Free frees the region's symmetric memory when the operations on it are complete. It is collective.
func (s *State) Free(ctx context.Context) error {
	if err := s.Context.Quiet(ctx); err != nil {
		return err
	}
	for _, free := range s.frees {
		if err := free(ctx); err != nil {
			return err
		}
	}
	return nil
}

// AllocPub allocates the blocks that other PEs fetch from this one.
func (s *State) AllocPub(ctx context.Context) (pgas.Sym[byte], error) {
	pub, err := s.AllocBlocks(ctx)
	if err == nil {
		s.Pub, s.Twins = pub.All().On(s.Context), pub.Local()
		s.Source = s.Pub
	}
	return pub, err
}

// AllocWords allocates the words of all blocks.
func (s *State) AllocWords(ctx context.Context) error {
	n := int(s.Blocks)
	all, err := Alloc[uint64](ctx, s, 4*n)
	if err != nil {
		return err
	}
	part := func(i int) pgas.AtomicSlice[uint64] {
		return pgas.AtomicsOf(all.Range(i*n, (i+1)*n)).On(s.Context)
	}
	s.Words = Words{
		Version: part(0), Lock: part(1), Grant: part(2), Hint: part(3),
		VersionAt: all.Range(0, n).Offset(), HintAt: all.Range(3*n, 4*n).Offset(),
	}
	s.asked = make([]bool, n)
	return nil
}

// HomeOf returns the fixed home of block b.
func (s *State) HomeOf(b int32) int { return int(b) % s.N }

// MustQuiet completes this PE's operations on the region's context. It panics if that fails, as an operation does whose
// target is lost.
func (s *State) MustQuiet() {
	if err := s.Context.Quiet(s.background); err != nil {
		panic(err)
	}
}

// MustQuietPE is MustQuiet for the operations on PE pe.
func (s *State) MustQuietPE(pe int) {
	if err := s.Context.QuietPE(s.background, pe); err != nil {
		panic(err)
	}
}

// shows returns a context derived from ctx for waits that reports of the job describe.
func (s *State) shows(ctx context.Context) context.Context { return s.shown.shows(ctx, s.Elements) }
