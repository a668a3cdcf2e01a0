package dsmbench

// A skeleton makes the accesses of a program without its arithmetic. Positions and lengths are those of the program; a
// byte of the skeleton's arrays stands for as many of them as the program's grain says, and is weighed as them. So
// blocks, faults, notices and messages are as many as the program's, and as long.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A program is the skeleton of one benchmark in one class.
type program struct {
	name, doc  string
	sequential time.Duration // the time in order, of table II of the paper
	steps      int           // steps of the whole program
	block      int64         // bytes of a block, of table III of the paper
	notices    int           // notices of a fence, of the same table
	grain      int64         // bytes that a byte of the skeleton stands for
	arrays     []int64       // the bytes of each array
	writable   []int         // arrays that stay writable, as in the paper's runtime
	prepare    func(k *worker) error
	step       func(k *worker) error
}

// workersOfPE is the number of the paper's workers of one process: the computing of a PE is divided by it.
const workersOfPE = 16

// usualFault is the CPU time of a page fault. With userfaultfd and the pager of package dsm, faults on pages of 4 KiB
// of an idle host were measured at 6.6 µs, whether the page was read, fetched to be written, or written where it was.
// The paper gives no time for its own faults, which are signals and calls of mprotect. Copying larger blocks is not
// counted: the workers of a PE do that at the same time.
const usualFault = 7 * time.Microsecond

// Row makes programs the rows of a table.
func (p *program) Row() (name, doc string) { return p.name, p.doc }

// worker is one PE in a skeleton. It stands for workersOfPE workers of one process.
type worker struct {
	ctx    context.Context
	w      *pgas.World
	p      *program
	region *dsm.Region
	arrays []dsm.Array[byte]
	stacks dsm.Array[byte] // the stacks of all PEs, if the program has any
	mutex  *dsm.Mutex
	fault  time.Duration
	faults uint64 // blocks fetched and released up to the last barrier
	mark   byte   // what is written until the next barrier: it differs from what was written before the last
}

// newWorker opens the region of a skeleton. It is collective.
func newWorker(ctx context.Context, w *pgas.World, p *program, c point) (*worker, error) {
	k := &worker{ctx: ctx, w: w, p: p, mark: 1, fault: c.Fault}
	choice, _ := choiceOf(c.Protocol)
	choice.AllNotices = p.writable != nil
	r, err := dsm.Open(protocols.With(ctx, choice), w, dsm.Options{
		Bytes: p.bytes(c.pes()), Block: int(p.block / p.grain), Mode: dsm.Soft,
		Notices: c.noticesOption(), Lease: c.Lease,
	})
	if err != nil {
		return nil, err
	}
	k.region = r
	for _, heap := range r.HeapRanges() {
		if err := sim.Weigh(ctx, heap[0], heap[1], int(p.grain)); err != nil {
			return nil, err
		}
	}
	for _, n := range p.arrays {
		a, err := dsm.Alloc[byte](ctx, r, int((n+p.grain-1)/p.grain))
		if err != nil {
			return nil, err
		}
		k.arrays = append(k.arrays, a)
	}
	if n := p.stackBytes(c.pes()); n > 0 {
		if k.stacks, err = dsm.Alloc[byte](ctx, r, int(n)); err != nil {
			return nil, err
		}
	}
	l, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
	if err != nil {
		return nil, err
	}
	k.mutex, err = dsm.NewMutex(ctx, r, l, 0)
	return k, err
}

// stackBytes returns the length of the stacks of all workers, each of which is a block.
func (p *program) stackBytes(pes int) uint64 {
	if p.writable == nil {
		return 0
	}
	return uint64(pes*workersOfPE) * uint64(p.block/p.grain)
}

// bytes returns the length of the region of the skeleton: each array begins a block.
func (p *program) bytes(pes int) uint64 {
	n := p.stackBytes(pes)
	for _, a := range p.arrays {
		n += uint64((a + p.block - 1) / p.block * (p.block / p.grain))
	}
	return n
}

// share returns this PE's part of n things.
func (k *worker) share(n int64) (lo, hi int64) {
	pe, npes := int64(k.w.PE()), int64(k.w.NPEs())
	return pe * n / npes, (pe + 1) * n / npes
}

// part returns this PE's part of the bytes of array a.
func (k *worker) part(a int) (lo, hi int64) { return k.share(k.p.arrays[a]) }

// read reads the bytes from lo to hi-1 of array a.
func (k *worker) read(a int, lo, hi int64) {
	lo, hi = max(lo, 0)/k.p.grain, min(hi, k.p.arrays[a])/k.p.grain
	if lo < hi {
		k.arrays[a].View(int(lo), int(hi))
	}
}

// readOwn reads this PE's parts of arrays.
func (k *worker) readOwn(arrays ...int) {
	for _, a := range arrays {
		lo, hi := k.part(a)
		k.read(a, lo, hi)
	}
}

// change reads and writes the bytes from lo to hi-1 of array a.
func (k *worker) change(a int, lo, hi int64) {
	k.fill(k.arrays[a].Update(int(lo/k.p.grain), int(hi/k.p.grain)))
}

// changeOwn reads and writes this PE's parts of arrays.
func (k *worker) changeOwn(arrays ...int) {
	for _, a := range arrays {
		lo, hi := k.part(a)
		k.change(a, lo, hi)
	}
}

// changeRows reads and writes the same rows of each of n planes of arrays: this PE's part of rows.
func (k *worker) changeRows(n, rows int64, arrays ...int) {
	lo, hi := k.share(rows)
	for _, a := range arrays {
		plane := k.p.arrays[a] / n
		for i := range n {
			k.change(a, i*plane+lo*plane/rows, i*plane+hi*plane/rows)
		}
	}
}

// readRows reads them.
func (k *worker) readRows(n, rows int64, arrays ...int) {
	lo, hi := k.share(rows)
	for _, a := range arrays {
		plane := k.p.arrays[a] / n
		for i := range n {
			k.read(a, i*plane+lo*plane/rows, i*plane+hi*plane/rows)
		}
	}
}

func (k *worker) fill(bytes []byte) {
	for i := range bytes {
		bytes[i] = k.mark
	}
}

// compute takes this PE's share of a part of what one step takes in order.
func (k *worker) compute(part float64) error {
	all := float64(k.p.sequential) / float64(k.p.steps*workersOfPE*k.w.NPEs())
	return k.w.Sleep(k.ctx, time.Duration(part*all))
}

// barrier ends a phase. The CPU time of its page faults is taken here: one thread of a PE serves them one after
// another.
func (k *worker) barrier() error {
	k.stayWritable()
	k.mark++
	s := k.region.Stats()
	all := s.FastReads + s.SlowReads + s.Moves
	if k.p.writable == nil {
		all += s.FastReleases // a block that stays writable has no fault
	}
	if n := all - k.faults; k.fault > 0 && n > 0 {
		if err := k.w.Sleep(k.ctx, time.Duration(n)*k.fault); err != nil {
			return err
		}
	}
	k.faults = all
	return k.region.Barrier(k.ctx)
}

// locked runs body while this PE holds the lock of the program's critical sections.
func (k *worker) locked(body func()) error {
	if err := k.mutex.Lock(k.ctx); err != nil {
		return err
	}
	k.mark++
	body()
	k.mutex.Unlock()
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
