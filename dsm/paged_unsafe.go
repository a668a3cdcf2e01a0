package dsm

// Copies that page faults check. The package pager has them; what it does in C for a fault is what version.go does for
// View, and both end with the same installation of a copy.

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/gopgas/gopgas/dsm/pager"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

type paged struct {
	*pager.Pager
	block  int
	way    func() error // closes the pager's way to other hosts
	forget func()       // ends what keeps the pages from the transport
	blocks int32
}

// pageable returns why this PE cannot use page faults, or nil.
func (r *Region) pageable() error {
	switch {
	case r.simulated():
		return fmt.Errorf("the simulator has no page faults")
	case r.o.Protocol != Floating:
		return fmt.Errorf("protocol %v has no page faults: use Mode Soft", r.o.Protocol)
	case r.o.Block%os.Getpagesize() != 0:
		return fmt.Errorf("blocks of %d bytes are no multiple of the page, %d", r.o.Block, os.Getpagesize())
	}
	return pager.Available()
}

func (r *Region) openPaged() error {
	way, closeWay, err := hook.Outside(r.w)
	if err != nil {
		return err
	}
	near, err := r.heaps()
	if err != nil {
		return err
	}
	faults := pager.BySignal
	if hook.Settings(r.w).DSMFaults == boot.DSMThread {
		faults = pager.ByThread
	}
	p, err := pager.Open(pager.Config{
		Block: r.o.Block, Blocks: int(r.blocks), PEs: r.n, PE: r.me, Near: near, Outside: way, Lease: r.o.Lease,
		Faults: faults, Keep: int(r.o.CacheMax / uint64(r.o.Block)),
		Pub: r.pub.Offset(), Ver: r.words.versionAt, Hint: r.words.hintAt,
	})
	if err != nil {
		closeWay()
		return fmt.Errorf("dsm.Open: mode paged: %w", err)
	}
	// The transport's own threads must not take a page fault: they may be what the pager waits for.
	c := &paged{p, r.o.Block, closeWay, hook.RegisterCoherent(r.w, p.Memory()), r.blocks}
	r.cache, r.paged, r.memory = c, c, p.Memory()
	return nil
}

func addressOf[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// heaps returns, by PE, the address of offset 0 of its symmetric heap, or 0 if the PE is on another host.
func (r *Region) heaps() ([]uintptr, error) {
	near := make([]uintptr, r.n)
	for pe := range near {
		if s := r.pub.Ptr(pe); s != nil {
			near[pe] = addressOf(s) - uintptr(r.pub.Offset())
		}
	}
	if near[r.me] == 0 {
		return nil, fmt.Errorf("dsm.Open: mode paged: this transport does not map the PE's own heap")
	}
	return near, nil
}

func (c *paged) written(into []int32) []int32 {
	if c.Unwritten() {
		return into
	}
	return c.Written(into)
}

func (c *paged) merge(b int32, latest []byte, home int32, rts uint64) (first, last int) {
	return c.Merge(b, latest, home, rts)
}

func (c *paged) changes(b int32, run func(at int, bytes []byte)) {
	own, twin := make([]byte, c.block), make([]byte, c.block)
	if c.Changes(b, own, twin) {
		run(0, own)
		return
	}
	forEachRun(twin, own, run)
}

func (c *paged) settle(b int32)                       { c.Settle(b) }
func (c *paged) drop(b int32, home int32, rts uint64) { c.Drop(b, home, rts) }
func (c *paged) ending(uint64, int32) []int32         { return nil } // the pager renews them itself
func (c *paged) renew(int32, uint64)                  {}
func (c *paged) current() bool                        { return c.Current() }
func (c *paged) expire(now uint64)                    { c.Expire(now) }
func (c *paged) zeros(b int32)                        { c.Zeros(b) }
func (c *paged) has(lo, hi int32, write bool) bool    { return c.Has(lo, hi, write) }
func (c *paged) writable(lo, hi int32)                { c.Ready(lo, hi, true) }
func (c *paged) ready(lo, hi int32)                   { c.Ready(lo, hi, false) }
func (c *paged) overwritten(lo, hi int32)             { c.Overwritten(lo, hi) }

func (c *paged) dropAll(stale func(b int32) bool) {
	set := make([]uint64, (c.blocks+63)/64)
	for b := range c.blocks {
		if stale(b) {
			set[b/64] |= 1 << (b % 64)
		}
	}
	c.DropAll(set)
}

func (c *paged) known(b int32) copyInfo {
	k := c.Known(b)
	return copyInfo{valid: k.Valid, untouched: k.Untouched, home: k.Home, generation: k.Generation, rts: k.Lease, now: k.Now}
}

func (c *paged) install(b int32, generation uint32, data []byte, home int32, rts uint64) bool {
	return c.Install(b, generation, data, home, rts)
}

// close ends the way to other hosts first: a fetch that waits on it ends then, and the thread can.
func (c *paged) close() error {
	err := c.way()
	if e := c.Close(); err == nil {
		err = e
	}
	c.forget()
	return err
}

// lostFault returns the error of a page fault whose home is lost, or nil if e is another fault.
func (r *Region) lostFault(e error) error {
	if r.paged == nil || r.closed {
		return nil
	}
	fault, ok := e.(interface{ Addr() uintptr })
	pe := r.paged.Lost()
	if !ok || pe < 0 || fault.Addr()-addressOf(r.memory) >= uintptr(len(r.memory)) {
		return nil
	}
	b := int((fault.Addr() - addressOf(r.memory)) >> r.shift)
	return &pgas.PeerError{PE: pe, Host: r.w.HostOf(pe), Err: fmt.Errorf("it was lost while this PE fetched block %d of a coherent region, %s", b, r.elementsOf(b))}
}

// whySoft returns why page faults are not used.
func (r *Region) whySoft() string {
	if err := r.pageable(); err != nil {
		return err.Error()
	}
	return "Options.Mode or " + EnvMode + " asks for Soft"
}

// warn says once why accesses are checked by software.
func (r *Region) warn(why error) {
	fmt.Fprintf(os.Stderr, "pgas: coherent memory is checked by software, since PE %d on %s cannot use page faults: %v; or use only View, Update, At and Set, and set %s=soft\n",
		r.me, r.w.HostOf(r.me), why, EnvMode)
}
