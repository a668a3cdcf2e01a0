package boot

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWaitOp = 0
	futexWakeOp = 1
	allSleepers = 1 << 30
)

// Sleep blocks until the doorbell's value is no longer seen, the PE is woken, or d has passed. It may
// return early; the caller checks its condition again.
func (s *State) Sleep(seen uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.Doorbell)), futexWaitOp, uintptr(seen), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// sleepWhile blocks while the word's value is seen, or until a futex wake of word.
func sleepWhile(word *atomic.Uint32, seen uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(seen), 0, 0, 0)
}

// futexWake wakes all sleepers on word.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, allSleepers, 0, 0, 0)
}
