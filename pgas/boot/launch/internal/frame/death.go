package frame

// How a PE ended, and what follows from that alone: its class of cause, the PE to blame, the exit status, and the
// words.

import (
	"fmt"
	"syscall"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

// Death says how a PE ended.
type Death struct {
	PE        int
	Process   int
	Status    syscall.WaitStatus
	RaceExit  int       // its exit status if that is 0 otherwise: it has reported a race; 0: it has not
	NeverLeft bool      // it had joined the job and did not leave it
	Table     []Blocked // what the PEs of its host were blocked in at that moment

	Reason     boot.EndReason // as the PE published it
	Peer       int            // the PE that it has lost, or -1
	FailedAt   int64          // boot.Clock of its host when it failed
	SentAt     int64          // boot.Clock of its host when this was sent
	ByLauncher bool           // killed by a signal that the launcher had sent

	OutOfMemory string // why the kernel has killed it for want of memory; "" if it has not

	Accused *boot.Accusation // other PEs have lost it; if Process is 0, its process may live
}

// Failed reports whether the PE failed: its status is not 0, or it has not left the job. A PE that has stopped as it
// was asked to has not.
func (d Death) Failed() bool {
	return d.NeverLeft || d.Status != 0 && !(d.Reason == boot.EndStopped && d.Status.ExitStatus() == boot.StopStatus)
}

// FailedHow returns the value of boot.Header.FailedHow for d.
func (d Death) FailedHow() uint64 {
	switch {
	case d.Accused != nil && d.Process == 0:
		return d.Accused.How()
	case d.BlamedPE() != d.PE:
		return boot.LostHow
	}
	return uint64(d.Status)
}

// CauseClass orders failures by how likely they are to be the root cause, the most likely first.
type causeClass int

const (
	OwnFailure         causeClass = iota // killed, crashed, or an error that is not known to be a consequence
	collectiveMismatch                   // every member of the team ends with this error
	AbortedInC                           // C code of a PE whose peers have vanished aborts now and then
	Consequence                          // it has lost another PE
	NoFailure                            // it was told to end
)

func (d Death) CauseClass() causeClass {
	switch {
	case d.Reason == boot.EndOwn:
		return OwnFailure // however its process ended
	case d.Reason == boot.EndOnRequest || d.Reason == boot.EndStopped || d.ByLauncher:
		return NoFailure
	case d.Reason == boot.EndLost && d.Peer != d.PE:
		return Consequence
	case d.Reason == boot.EndMismatch:
		return collectiveMismatch
	case d.Peer >= 0 && d.Peer != d.PE && (!d.Status.Signaled() || d.Status.Signal() == syscall.SIGABRT):
		return Consequence // it has not published why it ends, but it knew of a lost PE
	case d.Status.Signaled() && d.Status.Signal() == syscall.SIGABRT:
		return AbortedInC
	}
	return OwnFailure
}

// BlamedPE returns the PE to which a death is attributed: for a consequence, the PE that was lost.
func (d Death) BlamedPE() int {
	if d.CauseClass() == Consequence {
		return d.Peer
	}
	return d.PE
}

// How says how the PE ended, as a report does.
func (d Death) How() string {
	switch {
	case d.Accused != nil && d.Process == 0:
		return "is lost: " + d.Accused.Error()
	case d.Accused != nil && !d.Failed():
		return fmt.Sprintf("left the job while PE %d still needed it", d.Accused.By)
	}
	how := fmt.Sprintf("exited with status %d", d.Status.ExitStatus())
	if d.ByLauncher && d.Reason == boot.EndOwn {
		return "failed, and was ended before its process was gone"
	}
	if d.Status.Signaled() {
		sig := d.Status.Signal()
		how = fmt.Sprintf("was killed by signal %d (%s)", sig, unix.SignalName(sig))
		if d.OutOfMemory != "" {
			how += ", " + d.OutOfMemory
		}
	}
	if d.NeverLeft && d.Status == 0 {
		how += " without leaving the job (pgas.Main and World.Close do)"
	}
	return how
}

// ExitStatus returns the exit status of a shell: 128+N for signal N. A PE that exits without leaving the job has
// failed. One that has reported a race has not, but has a status of its own.
func (d Death) ExitStatus() int {
	switch {
	case d.Status.Signaled():
		return 128 + int(d.Status.Signal())
	case d.Status == 0 && d.NeverLeft:
		return 1
	case d.Status == 0:
		return d.RaceExit
	}
	return d.Status.ExitStatus()
}
