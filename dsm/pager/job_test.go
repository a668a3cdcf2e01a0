//go:build cgo && linux

package pager

// A job of PEs in this process, each with a pager. The releases and barriers are those of the protocol of package dsm,
// written for one block at a time and with Go's mutexes for turns; what is under test is the pager.

import (
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/dsm/pager/internal/remote"
)

const (
	closedBit = uint64(1) << 62
	movedBit  = uint64(1) << 63
	lease     = 10
)

type setup struct {
	pes, block, blocks int
	remote             bool // all other PEs are on other hosts
	userOnly           bool
	keep               int // blocks; 0: all
	faults             Faults
}

// forms are what may serve page faults.
var forms = map[string]Faults{"signal": BySignal, "thread": ByThread}

// inBothForms runs test with what may serve page faults.
func inBothForms(t *testing.T, test func(t *testing.T, faults Faults)) {
	for name, f := range forms {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

type notice struct {
	b    int32
	home int32
	wts  uint64
}

type pe struct {
	*Pager
	job  *job
	me   int
	now  uint64
	heap []byte
	way  *remote.Way // nil: all heaps are near
}

type job struct {
	setup
	pe     []*pe
	turns  []sync.Mutex // by block
	newest []int        // by block, under its turn: the PE that has the newest version
	ver    uint64       // offset
	hint   uint64
}

// open starts a job, which ends with the test.
func open(t testing.TB, s setup) *job {
	t.Helper()
	if err := Available(); err != nil {
		t.Skipf("no page faults are served by this machine: %v", err)
	}
	j := &job{setup: s, turns: make([]sync.Mutex, s.blocks), newest: make([]int, s.blocks)}
	j.ver = uint64(s.block * s.blocks)
	j.hint = j.ver + uint64(8*s.blocks)
	var heaps []uintptr
	for i := range s.pes {
		heap, err := syscall.Mmap(-1, 0, int(j.hint)+8*s.blocks, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		j.pe = append(j.pe, &pe{job: j, me: i, heap: heap})
		heaps = append(heaps, uintptr(unsafe.Pointer(&heap[0])))
	}
	for b := range j.newest {
		j.newest[b] = b % s.pes
	}
	for _, p := range j.pe {
		p.open(t, heaps)
	}
	t.Cleanup(j.close)
	return j
}

func (p *pe) open(t testing.TB, heaps []uintptr) {
	t.Helper()
	j := p.job
	c := Config{
		Block: j.block, Blocks: j.blocks, PEs: j.pes, PE: p.me, Ver: j.ver, Hint: j.hint, Near: heaps,
		Lease: lease, UserOnly: j.userOnly, Keep: j.keep, Faults: j.faults,
	}
	if j.remote {
		p.way = remote.New(heaps)
		c.Near = make([]uintptr, j.pes)
		c.Near[p.me] = heaps[p.me]
		c.Outside = p.way.Address()
	}
	var err error
	if p.Pager, err = Open(c); err != nil {
		t.Fatal(err)
	}
}

func (j *job) close() {
	for _, p := range j.pe {
		p.Close()
	}
	for _, p := range j.pe {
		if p.way != nil {
			p.way.Free()
		}
		syscall.Munmap(p.heap)
	}
}

func (p *pe) word(offset uint64, b int32) *uint64 {
	return (*uint64)(unsafe.Pointer(&p.heap[offset+8*uint64(b)]))
}

func (p *pe) version(b int32) *uint64 { return p.word(p.job.ver, b) }

func (p *pe) pub(b int32) []byte {
	return p.heap[int(b)*p.job.block : (int(b)+1)*p.job.block]
}

// words are the region as 64-bit words.
func (p *pe) words() []uint64 {
	m := p.Memory()
	return unsafe.Slice((*uint64)(unsafe.Pointer(&m[0])), len(m)/8)
}

// release makes versions of what p has written.
func (p *pe) release() []notice {
	var list []notice
	for _, b := range p.Written(nil) {
		list = append(list, p.change(b))
	}
	return list
}

// change makes a version of b.
func (p *pe) change(b int32) notice {
	j := p.job
	j.turns[b].Lock()
	defer j.turns[b].Unlock()
	prev := j.pe[j.newest[b]]
	r := atomic.OrUint64(prev.version(b), closedBit)
	var latest []byte
	if prev != p {
		latest = append(latest, prev.pub(b)...)
	}
	wts := max(r+1, p.now)
	rts := wts + lease
	p.Merge(b, latest, int32(p.me), rts)
	atomic.StoreUint64(p.version(b), rts)
	if prev != p {
		atomic.StoreUint64(prev.version(b), movedBit|uint64(p.me))
		atomic.StoreUint64(j.pe[int(b)%j.pes].word(j.hint, b), 1+uint64(p.me))
		j.newest[b] = p.me
	}
	return notice{b, int32(p.me), wts}
}

// acquire drops the copies that the notices tell of, and ends copies by the time.
func (p *pe) acquire(list []notice, now uint64) {
	for _, n := range list {
		if int(n.home) != p.me && n.wts > p.Known(n.b).Lease {
			p.Drop(n.b, n.home, n.wts+lease)
		}
	}
	p.now = max(p.now, now)
	p.Expire(p.now)
}

// barrier releases and acquires for all PEs. One goroutine calls it, between phases. If lossy is true, every other
// notice is lost, which the logical time makes up for.
func (j *job) barrier(lossy bool) {
	var list []notice
	var now uint64
	for _, p := range j.pe {
		for i, n := range p.release() {
			if lossy && i%2 == 0 {
				now = max(now, n.wts)
				continue
			}
			list = append(list, n)
		}
	}
	for _, p := range j.pe {
		p.acquire(list, now)
	}
}

// fetch is what View does: it brings b without a page fault.
func (p *pe) fetch(b int32) {
	for {
		k := p.Known(b)
		switch {
		case k.Valid:
			return
		case k.Untouched:
			p.Zeros(b)
			continue
		}
		home, rts := k.Home, k.Lease
		if rts < k.Now {
			for {
				v := maxOf(p.job.pe[home].version(b), k.Now+lease)
				if v&movedBit != 0 {
					home = int32(v &^ movedBit)
					continue
				}
				rts = max(v, k.Now+lease)
				if v&closedBit != 0 {
					rts = v &^ closedBit
				}
				break
			}
		}
		data := append([]byte(nil), p.job.pe[home].pub(b)...)
		p.Install(b, k.Generation, data, home, rts)
	}
}

// maxOf raises a word and returns what it was.
func maxOf(word *uint64, to uint64) uint64 {
	for {
		old := atomic.LoadUint64(word)
		if old >= to || atomic.CompareAndSwapUint64(word, old, to) {
			return old
		}
	}
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
