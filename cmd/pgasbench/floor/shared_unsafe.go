package floor

// What the processes of a bench share: words that stand on pages of their own.

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A word is shared by the processes. A negative value says that one of them has ended.
type word struct {
	atomic.Int64
	_ [4096 - 8]byte
}

type shared struct {
	ball    word // written by: each process in its turn
	sleep   word // written by: each process in its turn; its low half is the word of the futex
	made    word // written by: the leader; agreements made
	value   word // written by: the leader; what the last agreement is about
	address word // written by: the follower; where it listens
	arrived word // written by: each process in each round

	taken [mostProcesses]word // written by: the process of that number; agreements it has read
}

// mostProcesses is how many processes the benches have at most.
const mostProcesses = 32

const sharedBytes = int(unsafe.Sizeof(shared{}))

// mapWords maps the words behind fd.
func mapWords(fd int) (*shared, error) {
	m, err := unix.Mmap(fd, 0, sharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("memory for the floor: %w", err)
	}
	return (*shared)(unsafe.Pointer(unsafe.SliceData(m))), nil
}

func unmapWords(s *shared) {
	unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(s)), sharedBytes))
}

// set is a plain store. Store of package atomic is a locked instruction, which a trip of a cache line does not need:
// nothing but the word itself travels.
func (w *word) set(v int64) { *(*int64)(unsafe.Pointer(w)) = v }

// half is the half of w that the kernel compares.
func (w *word) half() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(w)) }

// sleepWhile sleeps while the futex word is v, or until a wake.
func (w *word) sleepWhile(v int32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(w)), futexWait, uintptr(uint32(v)), 0, 0, 0)
}

func (w *word) wake() {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(w)), futexWake, 1, 0, 0, 0)
}

const (
	futexWait = 0
	futexWake = 1
)

// yield gives the CPU to another thread of the same CPU.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
