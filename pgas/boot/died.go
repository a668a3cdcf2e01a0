package boot

import (
	"errors"
	"fmt"
	"syscall"
)

// HowDied returns an error that says how a process ended. status is as Header.FailedHow keeps it: a wait status,
// LostHow, or an Accusation.How, for which the error is that Accusation.
func HowDied(status uint64) error {
	if status&accusedBit != 0 {
		return Accusation{By: int(status & accusedMask), Silent: status&silentBit != 0, LargeLost: status&largeBit != 0}
	}
	ws := syscall.WaitStatus(status)
	switch {
	case status == GoneHow:
		return errors.New("its process has ended or left the job; the launcher knows how")
	case status == LostHow:
		return errors.New("other PEs have lost it")
	case ws.Signaled():
		return fmt.Errorf("killed by signal %d (%s)", int(ws.Signal()), ws.Signal())
	case ws.Exited() && ws.ExitStatus() != 0:
		return fmt.Errorf("exited with status %d", ws.ExitStatus())
	case ws.Exited():
		return errors.New("exited before the job was over")
	}
	return fmt.Errorf("ended with wait status %#x", status)
}

// ProcessEnded reports whether status, as Header.FailedHow keeps it, is that of a process that ended, as its
// agent has seen.
func ProcessEnded(status uint64) bool {
	return status&accusedBit == 0 && status != LostHow && status != GoneHow
}
