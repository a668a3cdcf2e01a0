package join

// A PE whose launcher's daemon has ended. The daemon of a PMI launcher on a host (slurmstepd, orted, prted) is the
// parent of the processes that it starts, and outlives them. If it is killed, some launchers leave the processes of the
// job behind, on all hosts: each then waits for others that wait as well. So a PE that loses its parent ends, and the
// members of its job learn of that.

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchParent waits for the end of process parent, and then asks this process to end, and ends it if it does not. It
// says nothing: the daemon has read what this process prints, and a write would kill it at once.
func (m *member) watchParent(parent int) {
	if !awaitEnd(parent) || m.hasLeft() {
		return
	}
	unix.Kill(os.Getpid(), unix.SIGTERM)
	time.Sleep(memberGrace)
	if !m.hasLeft() {
		os.Exit(1)
	}
}

// awaitEnd waits until a process has ended that was the parent of this one a moment ago. It reports false if the kernel
// cannot tell.
func awaitEnd(parent int) bool {
	fd, err := unix.PidfdOpen(parent, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH || err == nil && os.Getppid() != parent {
		return true
	}
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), "parent")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	first := true // the poller tells of the end: the descriptor cannot be read
	err = conn.Read(func(uintptr) bool {
		defer func() { first = false }()
		return !first || os.Getppid() != parent
	})
	return err == nil
}
