//go:build cgo && linux

package pager

// Page faults beside what else uses signals, which is code in C and the program's own use of package os/signal, and of
// threads that fault on the same blocks.

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm/pager/internal/foreign"
)

// TestFaultsOfC: code in C accesses a region on a thread of Go and on one that Go does not know. An access leaves errno
// alone.
func TestFaultsOfC(t *testing.T) { inBothForms(t, testFaultsOfC) }

func testFaultsOfC(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 8, remote: true})
	other, p := j.pe[0], j.pe[1]
	n := uint64(len(p.words()))
	for round := range uint64(3) {
		if !foreign.Fill(other.words(), round) {
			t.Error("a fault of a store has changed errno")
		}
		want := n*round + n*(n-1)/2
		p.acquire(other.release(), 0)
		if got := foreign.Sum(p.words()); got != want {
			t.Errorf("round %d: C reads %d, want %d", round, got, want)
		}
		for i := range other.words() {
			other.words()[i]++
		}
		p.acquire(other.release(), 0)
		if got, err := foreign.ThreadSum(p.words()); got != want+n || err != nil {
			t.Errorf("round %d: a thread of C reads %d, %v, want %d", round, got, err, want+n)
		}
	}
}

// TestOtherSignals: a SIGBUS that is not a region's is Go's, as it is without a region. What a program does with
// package os/signal leaves faults alone.
func TestOtherSignals(t *testing.T) { inBothForms(t, testOtherSignals) }

func testOtherSignals(t *testing.T, faults Faults) {
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: 4})
	other, p := j.pe[0], j.pe[1]
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := syscall.Mmap(int(file.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	came := make(chan os.Signal, 1)
	for i, change := range []func(){
		func() {},
		func() { signal.Notify(came, syscall.SIGBUS, syscall.SIGURG) },
		func() { signal.Ignore(syscall.SIGBUS) },
		func() { signal.Reset(syscall.SIGBUS, syscall.SIGURG) },
	} {
		change()
		if !failing(func() { t.Log(m[0]) }) { // behind the end of the file
			t.Errorf("after change %d: an access behind the end of a file went on", i)
		}
		other.words()[0] = uint64(i) + 1
		p.acquire(other.release(), 0)
		if got := p.words()[0]; got != uint64(i)+1 {
			t.Errorf("after change %d: read %d, want %d", i, got, i+1)
		}
	}
}

// TestSameBlocks: threads that fault on the same blocks at the same time read the same, and each block is fetched once.
// Their writes to words of their own all stay.
func TestSameBlocks(t *testing.T) { inBothForms(t, testSameBlocks) }

func testSameBlocks(t *testing.T, faults Faults) {
	const blocks, threads = 8, 6
	j := open(t, setup{faults: faults, pes: 2, block: 2 * os.Getpagesize(), blocks: blocks, remote: true})
	other, p, per := j.pe[0], j.pe[1], j.block/8
	p.way.Delay(100 * time.Microsecond)
	for round := range uint64(rounds(20)) {
		for b := range blocks {
			other.words()[b*per] = round + uint64(b) + 1
		}
		p.acquire(other.release(), 0)
		before := p.Stats()
		var wrong atomic.Int64
		var group sync.WaitGroup
		for i := range threads {
			group.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for b := range blocks {
					if p.words()[b*per] != round+uint64(b)+1 {
						wrong.Add(1)
					}
					p.words()[b*per+1+i] = round*threads + uint64(i)
				}
			})
		}
		group.Wait()
		now := p.Stats()
		if n := now.Fast + now.Slow - before.Fast - before.Slow; n != blocks || wrong.Load() != 0 {
			t.Fatalf("round %d: %d blocks were fetched %d times; %d reads were wrong", round, blocks, n, wrong.Load())
		}
		other.acquire(p.release(), 0)
		for b := range blocks {
			for i := range threads {
				if got := other.words()[b*per+1+i]; got != round*threads+uint64(i) {
					t.Fatalf("round %d: word %d of block %d is %d, want %d", round, 1+i, b, got, round*threads+uint64(i))
				}
			}
		}
	}
}

// TestFetchLeftToThread: a goroutine that Go interrupts in each fault gets through, since the pager's thread ends what
// it began.
func TestFetchLeftToThread(t *testing.T) {
	j := open(t, setup{pes: 2, block: os.Getpagesize(), blocks: 4, remote: true})
	other, p := j.pe[0], j.pe[1]
	p.way.Delay(5 * time.Millisecond)
	for b := range j.blocks {
		other.words()[b*j.block/8] = uint64(b) + 1
	}
	p.acquire(other.release(), 0)
	stop := collect()
	for b := range j.blocks {
		if got := p.words()[b*j.block/8]; got != uint64(b)+1 {
			t.Errorf("block %d has %d", b, got)
		}
	}
	stop()
	if gets, _ := p.way.Calls(); gets <= j.blocks {
		t.Errorf("%d blocks took %d gets: no fetch was given up", j.blocks, gets)
	}
}
