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

// workerFiles are the descriptors that a worker of UCX's takes at most, beside its connections.
const workerFiles = 9

// enoughFiles returns an error if there are too few descriptors for another channel with so many connections, and for
// as many that come from the channels that the other PEs open. What UCX cannot accept for want of a descriptor it drops
// without a word. The kernel hands out the lowest free descriptor, so its number tells how many are in use.
func enoughFiles(connections int) error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	lowest, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		syscall.Close(lowest)
	}
	if err != nil {
		lowest = int(limit.Cur)
	}
	need := lowest + workerFiles + 2*connections + sparedFiles
	if uint64(need) <= limit.Cur {
		return nil
	}
	return fmt.Errorf("this process needs %d open files for a channel with connections to and from as many PEs as %d; its limit is %s: "+
		"raise it with `ulimit -n`, close contexts, or lower PGAS_CONNECTIONS", need, connections, limitText(limit))
}

// limitText returns a limit with that to which a process can raise it itself. A program of Go's has done so when it
// starts.
func limitText(l syscall.Rlimit) string {
	if l.Max == l.Cur {
		return fmt.Sprintf("%d, soft and hard", l.Cur)
	}
	return fmt.Sprintf("%d (hard: %d)", l.Cur, l.Max)
}
