//go:build cgo && linux

package pager

// Fences beside accesses of other goroutines of the same PE. No access of these tests races with another PE's, so each
// of them has one right result.

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rounds is how often a test of races between fences and accesses tries.
func rounds(short int) int {
	if *long {
		return 100 * short
	}
	return short
}

// beside runs work in goroutines, again and again until main returns.
func beside(main func(), work ...func(stop *atomic.Bool)) {
	var stop atomic.Bool
	var group sync.WaitGroup
	for _, w := range work {
		group.Go(func() { w(&stop) })
	}
	main()
	stop.Store(true)
	group.Wait()
}

// await yields until is returns true.
func await(is func() bool) {
	for !is() {
		time.Sleep(50 * time.Microsecond)
	}
}

// count returns what counts in a word of p, and fails if a count of its own is gone.
func count(t *testing.T, p *pe, word int) func(*atomic.Bool) {
	return func(stop *atomic.Bool) {
		words := p.words()
		for v := words[word] + 1; !stop.Load(); v++ {
			words[word] = v
			for range 40 {
				if got := atomic.LoadUint64(&words[word]); got != v {
					t.Errorf("word %d is %d right after this PE has written %d", word, got, v)
					return
				}
			}
		}
	}
}

// TestOwnWritesStay: two goroutines count in words of their own, in a block that the other PE changes, too, and that
// fences release and drop meanwhile. No count is lost.
func TestOwnWritesStay(t *testing.T) { inBothForms(t, testOwnWritesStay) }

func testOwnWritesStay(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2})
	other, p := j.pe[0], j.pe[1]
	fetch := func(stop *atomic.Bool) {
		for !stop.Load() {
			p.fetch(0)
			runtime.Gosched()
		}
	}
	beside(func() {
		for i := range rounds(1500) {
			other.words()[8] = uint64(i)
			p.acquire(other.release(), 0)
			other.acquire(p.release(), 0)
		}
	}, count(t, p, 1), count(t, p, 2), fetch)
	other.acquire(p.release(), 0)
	if mine, theirs := p.words()[:3], other.words()[:3]; !slices.Equal(mine, theirs) {
		t.Errorf("after the last release the PEs have %d and %d", mine, theirs)
	}
}

// TestFetchIntoDirty: a fetch brings a block between the notice of its change and the end of the acquire, while the
// program writes to it: it is mapped and writable until then. No write is lost.
func TestFetchIntoDirty(t *testing.T) { inBothForms(t, testFetchIntoDirty) }

func testFetchIntoDirty(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2})
	other, p := j.pe[0], j.pe[1]
	beside(func() {
		for i := range rounds(1500) {
			other.words()[8] = uint64(i)
			for _, n := range other.release() {
				p.Drop(n.b, n.home, n.wts+lease)
			}
			p.fetch(0)
			if got := atomic.LoadUint64(&p.words()[8]); got != uint64(i) {
				t.Errorf("a fetch after the notice of version %d brought version %d", i, got)
				return
			}
			p.acquire(nil, 0)
			other.acquire(p.release(), 0)
		}
	}, count(t, p, 1), count(t, p, 2))
}

// TestAcquireHidesOld: what a PE has acquired is seen by all of its goroutines, which fault on the blocks at any moment
// of the acquire. Half of the write notices are lost: leases end the copies then.
func TestAcquireHidesOld(t *testing.T) { inBothForms(t, testAcquireHidesOld) }

func testAcquireHidesOld(t *testing.T, faults Faults) {
	const blocks = 6
	for _, far := range []bool{false, true} {
		j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: blocks, remote: far})
		writer, p := j.pe[0], j.pe[1]
		per := j.block / 8
		var acquired atomic.Uint64
		read := func(stop *atomic.Bool) {
			words := p.words()
			for i := 0; !stop.Load(); i++ {
				k := acquired.Load()
				if got := atomic.LoadUint64(&words[i%blocks*per]); got < k {
					t.Errorf("block %d has version %d after version %d was acquired", i%blocks, got, k)
					return
				}
			}
		}
		beside(func() {
			for k := range uint64(rounds(1000)) {
				for b := range blocks {
					writer.words()[b*per] = k + 1
				}
				var kept []notice
				var now uint64
				for i, n := range writer.release() {
					if (i+int(k))%2 == 0 {
						now = max(now, n.wts)
					} else {
						kept = append(kept, n)
					}
				}
				p.acquire(kept, now)
				acquired.Store(k + 1)
			}
		}, read, read)
	}
}

// TestReleaseMissesNone: a release right after a write has the block, while another goroutine writes to blocks that
// sort before it. Two goroutines that release take turns.
func TestReleaseMissesNone(t *testing.T) { inBothForms(t, testReleaseMissesNone) }

func testReleaseMissesNone(t *testing.T, faults Faults) {
	const blocks = 16
	j := open(t, setup{faults: faults, pes: 1, block: os.Getpagesize(), blocks: blocks})
	p, per := j.pe[0], j.block/8
	var fences sync.Mutex
	write := func(stop *atomic.Bool) {
		for i := uint64(1); !stop.Load(); i++ {
			p.words()[int(i%8)*per] = i
			if i%64 == 0 {
				runtime.Gosched()
			}
		}
	}
	release := func(b int32) func(*atomic.Bool) {
		return func(stop *atomic.Bool) {
			for i := uint64(1); !stop.Load(); i++ {
				p.words()[int(b)*per] = i
				fences.Lock()
				p.release()
				got := *p.word(uint64(int(b)*j.block), 0)
				fences.Unlock()
				if got != i {
					t.Errorf("block %d: a release right after the write of %d left %d in the released bytes", b, i, got)
					return
				}
			}
		}
	}
	beside(func() {
		for i := range uint64(rounds(2000)) {
			b := int32(8 + i%4)
			p.words()[int(b)*per] = i + 1
			fences.Lock()
			p.release()
			got := *p.word(uint64(int(b)*j.block), 0)
			fences.Unlock()
			if got != i+1 {
				t.Errorf("block %d: a release right after the write of %d left %d in the released bytes", b, i+1, got)
				return
			}
		}
	}, write, release(13))
}

// TestReleaseDuringFetch: a fetch under way has asked for an older version than the one that a release makes meanwhile.
// It does not undo the release in this PE's copy.
func TestReleaseDuringFetch(t *testing.T) { inBothForms(t, testReleaseDuringFetch) }

func testReleaseDuringFetch(t *testing.T, faults Faults) {
	for _, byView := range []bool{false, true} {
		j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2, remote: true})
		other, p := j.pe[0], j.pe[1]
		p.words()[1] = 11
		other.words()[0] = 7
		p.acquire(other.release(), 0) // p's copy is dirty, and not valid
		k, data := p.Known(0), bytes.Clone(other.pub(0))
		p.way.Shut()
		read := make(chan uint64)
		if !byView {
			go func() { read <- p.words()[0] + 1 }() // of a bare element the channel would do the load, later
			await(func() bool { return p.way.Waiting() > 0 })
		}
		p.release()
		if byView && p.Install(0, k.Generation, data, k.Home, k.Lease) {
			t.Error("a copy that was fetched before a release was installed after it")
		}
		p.way.Open()
		if !byView && <-read != 7+1 {
			t.Error("the read did not see what was acquired")
		}
		if got := p.words()[:2]; got[0] != 7 || got[1] != 11 {
			t.Errorf("by View %v: the copy is %d after the release, want [7 11]", byView, got)
		}
	}
}

// TestFaultDuringAcquire: the bytes of a page fault are on their way while this PE acquires a newer version. The access
// that has faulted sees that version.
func TestFaultDuringAcquire(t *testing.T) { inBothForms(t, testFaultDuringAcquire) }

func testFaultDuringAcquire(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2, remote: true})
	other, p := j.pe[0], j.pe[1]
	other.words()[0] = 7
	p.acquire(other.release(), 0)
	p.way.Hold()
	read := make(chan uint64)
	go func() { read <- p.words()[0] + 1 }() // of a bare element the channel would do the load, later
	await(func() bool { return p.way.Waiting() > 0 })
	other.words()[0] = 8
	p.acquire(other.release(), 0)
	p.way.Give()
	if got := <-read - 1; got != 8 {
		t.Errorf("a page fault that an acquire has overtaken read %d, want 8", got)
	}
}

// TestInstallAfterFence: a copy that was fetched before an acquire is not installed after it.
func TestInstallAfterFence(t *testing.T) { inBothForms(t, testInstallAfterFence) }

func testInstallAfterFence(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2})
	other, p := j.pe[0], j.pe[1]
	other.words()[0] = 1
	p.acquire(other.release(), 0)
	k, data := p.Known(0), bytes.Clone(other.pub(0))
	p.Expire(0)
	if p.Install(0, k.Generation, data, k.Home, k.Lease) {
		t.Error("a fence came, and the copy was installed")
	}
	k = p.Known(0)
	if k.Valid || !p.Install(0, k.Generation, data, k.Home, k.Lease) || !p.Known(0).Valid {
		t.Error("no fence came, and the copy was not installed")
	}
}
