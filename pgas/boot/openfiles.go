package boot

// How many files a process may have open. Go raises the soft limit to the hard one when a program starts, so what is
// left is to know beforehand that even that is not enough: an accept or a socket that fails later is a job that hangs.

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
)

// spareFiles are what a process opens beside what it has counted: files of /proc, of the Go runtime, connections that
// prove to be those of strangers.
const spareFiles = 8

// NeedFiles returns an error if this process, which what names, cannot have n more files open.
func NeedFiles(what string, n int) error {
	open, most := OpenFiles()
	if need := uint64(open + n + spareFiles); need > most {
		return fmt.Errorf("%s needs %d open files, and its limit is %d: raise it for what starts it (ulimit -n %d, LimitNOFILE of systemd, --ulimit of docker, limits.conf), or run fewer PEs on a host", what, need, most, max(need, 1024))
	}
	return nil
}

// OpenFiles returns how many files this process has open, and how many it may have.
func OpenFiles() (open int, most uint64) {
	entries, _ := os.ReadDir("/proc/self/fd")
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return len(entries), unix.RLIM_INFINITY
	}
	return len(entries), limit.Cur
}

// FilesUsedUp returns what to add to an error about a connection: that this process has no file left for one, or "".
func FilesUsedUp() string {
	open, most := OpenFiles()
	if uint64(open+1) < most {
		return ""
	}
	return fmt.Sprintf(" (this process has %s open, all that its limit allows: raise it with ulimit -n)", plural.Count(most, "file"))
}
