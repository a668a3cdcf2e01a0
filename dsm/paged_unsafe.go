package dsm

// Copies that page faults check. The package pager has them; what it does in C for a fault is what protocol.State.Bring
// does for View, and both end with the same installation of a copy.

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/dsm/pager"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas/boot"
)

type paged struct {
	*pager.Pager
	block  int
	way    func() error // closes the pager's way to other hosts
	forget func()       // ends what keeps the pages from the transport
	blocks int32
}

// pageable returns why this PE cannot use page faults for blocks of that many bytes, or nil.
func pageable(block int) error {
	if block%os.Getpagesize() != 0 {
		return fmt.Errorf("blocks of %d bytes are no multiple of the page, %d", block, os.Getpagesize())
	}
	return pager.Available()
}

// openPaged opens the pager of the region of s, which keeps up to cacheMax bytes of copies unless that is 0.
func openPaged(s *protocol.State, cacheMax uint64) (*paged, error) {
	way, closeWay, err := hook.Outside(s.World)
	if err != nil {
		return nil, err
	}
	near, err := heaps(s)
	if err != nil {
		return nil, err
	}
	faults := pager.BySignal
	if hook.Settings(s.World).DSMFaults == boot.DSMThread {
		faults = pager.ByThread
	}
	p, err := pager.Open(pager.Config{
		Block: s.Block, Blocks: int(s.Blocks), PEs: s.N, PE: s.Me, Near: near, Outside: way, Lease: s.Lease,
		Faults: faults, Keep: int(cacheMax / uint64(s.Block)),
		Pub: s.Pub.Offset(), Ver: s.Words.VersionAt, Hint: s.Words.HintAt,
	})
	if err != nil {
		closeWay()
		return nil, fmt.Errorf("dsm.Open: mode paged: %w", err)
	}
	// The transport's own threads must not take a page fault: they may be what the pager waits for.
	return &paged{p, s.Block, closeWay, hook.RegisterCoherent(s.World, p.Memory()), s.Blocks}, nil
}

func addressOf[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// heaps returns, by PE, the address of offset 0 of its symmetric heap, or 0 if the PE is on another host.
func heaps(s *protocol.State) ([]uintptr, error) {
	near := make([]uintptr, s.N)
	for pe := range near {
		if pub := s.Pub.Ptr(pe); pub != nil {
			near[pe] = addressOf(pub) - uintptr(s.Pub.Offset())
		}
	}
	if near[s.Me] == 0 {
		return nil, fmt.Errorf("dsm.Open: mode paged: this transport does not map the PE's own heap")
	}
	return near, nil
}

// What the pager has under another form. Its other methods are those of a Cache as they are.

func (c *paged) Written(into []int32) []int32 {
	if c.Unwritten() {
		return into
	}
	return c.Pager.Written(into)
}

func (c *paged) Changes(b int32, run func(at int, bytes []byte)) {
	own, twin := make([]byte, c.block), make([]byte, c.block)
	if c.Pager.Changes(b, own, twin) {
		run(0, own)
		return
	}
	forEachRun(twin, own, run)
}

func (c *paged) Writable(lo, hi int32) { c.Pager.Ready(lo, hi, true) }
func (c *paged) Ready(lo, hi int32)    { c.Pager.Ready(lo, hi, false) }

func (c *paged) DropAll(stale func(b int32) bool) {
	set := make([]uint64, (c.blocks+63)/64)
	for b := range c.blocks {
		if stale(b) {
			set[b/64] |= 1 << (b % 64)
		}
	}
	c.Pager.DropAll(set)
}

func (c *paged) Known(b int32) protocol.CopyInfo {
	k := c.Pager.Known(b)
	return protocol.CopyInfo{Valid: k.Valid, Untouched: k.Untouched, Home: k.Home, Generation: k.Generation, RTS: k.Lease, Now: k.Now}
}

// Close ends the way to other hosts first: a fetch that waits on it ends then, and the thread can.
func (c *paged) Close() error {
	err := c.way()
	if e := c.Pager.Close(); err == nil {
		err = e
	}
	c.forget()
	return err
}

// lost returns the PE whose loss is why e, a page fault, has not been served, and where in the region it was. The PE is
// -1 if e is another fault.
func (c *paged) lost(e error) (pe int, at uintptr) {
	fault, ok := e.(interface{ Addr() uintptr })
	pe = c.Lost()
	if !ok || pe < 0 {
		return -1, 0
	}
	memory := c.Memory()
	if at = fault.Addr() - addressOf(memory); at >= uintptr(len(memory)) {
		return -1, 0
	}
	return pe, at
}
