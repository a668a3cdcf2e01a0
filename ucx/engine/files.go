//go:build cgo

package engine

// A worker of UCX's takes 7 to 9 file descriptors, and each connection another one. Where they run out UCX 1.13 ends
// the process, in one of its threads, where no caller can get an error. So a channel is refused while there are still
// enough for the connections of the open ones.

import (
	"fmt"
	"syscall"
)

// sparedFiles is how many descriptors are left for the program, besides those of a channel's connections.
const sparedFiles = 64

// enoughFiles returns an error if there are too few descriptors for another channel with so many connections. The kernel hands
// out the lowest free descriptor, so its number tells how many are in use.
func enoughFiles(connections int) error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	lowest, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		syscall.Close(lowest)
	}
	if err != nil || uint64(lowest+connections+sparedFiles) > limit.Cur {
		return fmt.Errorf("too many open files for another channel (the limit is %d, a channel takes up to 9 and one for each of its connections): raise it with `ulimit -n`, close contexts, or lower PGAS_CONNECTIONS", limit.Cur)
	}
	return nil
}
