//go:build cgo && linux

package pager

// What a pager must withstand from the kernel and from Go: collections that wait for a thread in a page fault, pages
// that disappear, signals, system calls on cold pages, homes that are lost, and its own end.

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestCollectionDuringFault: a load in a page fault does not hold up stopping the world, however long the fetch takes.
func TestCollectionDuringFault(t *testing.T) { inBothForms(t, testCollectionDuringFault) }

func testCollectionDuringFault(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 4, remote: true})
	other, p := j.pe[0], j.pe[1]
	other.words()[0] = 5
	p.acquire(other.release(), 0)
	p.way.Shut()
	read := make(chan uint64)
	go func() { read <- p.words()[0] + 1 }() // of a bare element the channel would do the load, which has no safe point
	await(func() bool { return p.way.Waiting() > 0 })
	for range 3 {
		runtime.GC()
	}
	p.way.Open()
	if got := <-read; got != 5+1 {
		t.Errorf("the load brought %d, want 5", got-1)
	}
}

// TestCopyWithOneP: all goroutines copy cold blocks, which has no safe point, while collections wait for them. The
// pager needs no P.
func TestCopyWithOneP(t *testing.T) { inBothForms(t, testCopyWithOneP) }

func testCopyWithOneP(t *testing.T, faults Faults) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const blocks = 9
	for _, delay := range []time.Duration{0, 200 * time.Microsecond, 2 * time.Millisecond} {
		j := open(t, setup{faults: faults, pes: 2, block: 2 * os.Getpagesize(), blocks: blocks, remote: true})
		other, p := j.pe[0], j.pe[1]
		p.way.Delay(delay)
		stop := collect()
		for round := range 4 {
			for i := range other.Memory() {
				other.Memory()[i] = byte(i + round)
			}
			p.acquire(other.release(), 0)
			ended := make(chan []byte)
			for range 3 {
				go func() {
					to := make([]byte, blocks*j.block)
					copy(to, p.Memory())
					ended <- to
				}()
			}
			for range 3 {
				if !bytes.Equal(<-ended, other.Alias()) {
					t.Fatalf("round %d, fetches of %v: the copy differs from what was released", round, delay)
				}
			}
		}
		stop()
	}
}

// TestPagesDisappear: pages that the kernel takes from the mapping are served again, with what the program has written,
// and writes are noticed as before.
func TestPagesDisappear(t *testing.T) { inBothForms(t, testPagesDisappear) }

func testPagesDisappear(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 1, block: 2 * os.Getpagesize(), blocks: 8})
	p := j.pe[0]
	words, m := p.words(), p.Memory()
	for i := range 400 {
		at := i * 7919 % len(words)
		if err := syscall.Madvise(m[at*8/j.block*j.block:][:os.Getpagesize()], syscall.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		was := words[at]
		words[at] = was + uint64(i) + 1
		if i%3 == 0 {
			p.release()
			if got := *p.word(uint64(8*at), 0); got != was+uint64(i)+1 {
				t.Fatalf("step %d: released %d, want %d", i, got, was+uint64(i)+1)
			}
		}
		if got := words[at]; got != was+uint64(i)+1 {
			t.Fatalf("step %d: word %d is %d, want %d", i, at, got, was+uint64(i)+1)
		}
	}
}

// TestSignalStorm: a thread that signals interrupt in page faults faults again, and reads what it must.
func TestSignalStorm(t *testing.T) { inBothForms(t, testSignalStorm) }

func testSignalStorm(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 8, remote: true})
	other, p := j.pe[0], j.pe[1]
	p.way.Delay(300 * time.Microsecond)
	var thread atomic.Int64
	storm := func(stop *atomic.Bool) {
		for !stop.Load() {
			if id := thread.Load(); id != 0 {
				syscall.Tgkill(os.Getpid(), int(id), syscall.SIGURG)
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	beside(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Store(int64(syscall.Gettid()))
		for round := range uint64(20) {
			for b := range j.blocks {
				other.words()[b*j.block/8] = round*100 + uint64(b)
			}
			p.acquire(other.release(), 0)
			for b := range j.blocks {
				if got := p.words()[b*j.block/8]; got != round*100+uint64(b) {
					t.Fatalf("round %d: block %d has %d", round, b, got)
				}
			}
		}
	}, storm)
}

// TestSystemCalls: the kernel's own accesses to cold pages are served if that is permitted. If not, they fail with
// EFAULT, and succeed once the blocks are ready.
func TestSystemCalls(t *testing.T) { inBothForms(t, testSystemCalls) }

func testSystemCalls(t *testing.T, faults Faults) {
	for _, userOnly := range []bool{false, true} {
		j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 2, userOnly: userOnly})
		other, p := j.pe[0], j.pe[1]
		copy(other.Memory(), "coherent")
		p.acquire(other.release(), 0)
		var pipe [2]int
		if err := syscall.Pipe(pipe[:]); err != nil {
			t.Fatal(err)
		}
		_, err := syscall.Write(pipe[1], p.Memory()[:8])
		if errors.Is(err, syscall.EFAULT) { // unprivileged: the same as userOnly
			p.fetch(0)
			p.Ready(0, 1, false)
			_, err = syscall.Write(pipe[1], p.Memory()[:8])
		} else if userOnly || faults == BySignal {
			t.Error("a system call on a cold page did not fail, and only faults of user mode are served")
		}
		got := make([]byte, 8)
		if _, e := syscall.Read(pipe[0], got); err != nil || e != nil || string(got) != "coherent" {
			t.Errorf("user mode only %v: write: %v; read %q: %v", userOnly, err, got, e)
		}
		syscall.Close(pipe[0])
		syscall.Close(pipe[1])
	}
}

// failing reports whether load faults, as memory that is not there.
func failing(load func()) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if _, ok := recover().(runtime.Error); ok {
			faulted = true
		}
	}()
	load()
	return false
}

// TestLostHome: an access to a block whose home is lost is a fault that the program can recover, and the pager names
// the PE. Other blocks stay.
func TestLostHome(t *testing.T) { inBothForms(t, testLostHome) }

func testLostHome(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: 2 * os.Getpagesize(), blocks: 4, remote: true})
	other, p := j.pe[0], j.pe[1]
	p.words()[j.block/8] = 3
	p.words()[0] = 1
	other.words()[1] = 9
	p.acquire(other.release(), 0)
	p.way.Lose(0)
	if p.Lost() != -1 {
		t.Errorf("PE %d is lost before any fetch", p.Lost())
	}
	for range 2 {
		if !failing(func() { t.Log(p.words()[1]) }) {
			t.Error("an access to a block whose home is lost went on")
		}
	}
	if p.Lost() != 0 || p.Stats().Lost == 0 {
		t.Errorf("lost PE %d, %d blocks, want PE 0", p.Lost(), p.Stats().Lost)
	}
	if got := p.words()[j.block/8]; got != 3 {
		t.Errorf("another block has %d, want 3", got)
	}
}

// used counts the descriptors, mappings of regions and pagers' threads of this process.
func used(t *testing.T) (descriptors, mappings, threads int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if name, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/comm"); string(name) == "pgas-pager\n" {
			threads++
		}
	}
	return len(fds), bytes.Count(maps, []byte("pgas-dsm")), threads
}

// TestNothingIsLeft opens and closes pagers, with an access between and one after: it fails.
func TestNothingIsLeft(t *testing.T) { inBothForms(t, testNothingIsLeft) }

func testNothingIsLeft(t *testing.T, faults Faults) {
	base := open(t, setup{faults: faults, pes: 1, block: os.Getpagesize(), blocks: 4}).pe[0]
	await(func() bool { // its thread has its name
		base.Memory()[0] = 1
		_, _, threads := used(t)
		return threads > 0
	})
	heaps := []uintptr{addressOf(base.heap)}
	fds, maps, threads := used(t)
	for i := range rounds(200) {
		p, err := Open(Config{Block: os.Getpagesize(), Blocks: 4, PEs: 1, Ver: base.job.ver, Hint: base.job.hint, Near: heaps, Faults: faults})
		if err != nil {
			t.Fatal(err)
		}
		m := p.Memory()
		m[i%len(m)] = 1
		p.Close()
		if i%50 == 0 && !failing(func() { m[0]++ }) {
			t.Fatal("memory was accessed after Close")
		}
	}
	if f, m, n := used(t); f > fds || m > maps || n > threads {
		t.Errorf("left: %d descriptors, %d mappings, %d threads; before: %d, %d, %d", f, m, n, fds, maps, threads)
	}
}

// TestMappingsStayFew: blocks of alternating state do not split the mapping.
func TestMappingsStayFew(t *testing.T) { inBothForms(t, testMappingsStayFew) }

func testMappingsStayFew(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 3000})
	other, p := j.pe[0], j.pe[1]
	_, before, _ := used(t)
	for b := 0; b < j.blocks; b += 2 {
		p.words()[b*j.block/8] = uint64(b) // dirty, readable and dropped blocks in turn
		if b%3 == 0 {
			other.words()[b*j.block/8+1] = uint64(b)
		}
	}
	p.acquire(other.release(), 0)
	list := p.Written(nil)
	if len(list) != (j.blocks-1)/2 { // block 0 got a 0
		t.Errorf("%d blocks written, want %d", len(list), (j.blocks-1)/2)
	}
	if _, after, _ := used(t); after != before {
		t.Errorf("%d mappings of regions, before %d", after, before)
	}
}
