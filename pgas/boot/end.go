package boot

// Why a PE ends. A PE that fails makes others fail: they lose it, report that and exit, and the process of one of
// them may end before that of the PE that failed first. So a PE publishes in the host segment why and when it ends,
// as soon as it knows, and the first PE that was reported to it as lost. Its agent passes that on, and the launcher
// names the cause instead of the process that it saw end first.

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// End is what a PE publishes about its own end.
type End struct {
	At   atomic.Int64  // Clock when it knew; 0: it has published nothing
	Peer atomic.Int32  // with EndLost, the PE that it lost
	Why  atomic.Uint32 // EndReason; written last
	Lost atomic.Int32  // 1 + the first PE whose loss was reported to it, or 0
}

// EndReason says why a PE ends.
type EndReason uint32

// The reasons. EndUnknown is the reason of a process that publishes none: it was killed, crashed or called os.Exit.
const (
	EndUnknown   EndReason = iota
	EndOwn                 // an error or a panic of its own
	EndMismatch            // the PEs of a team called different collectives
	EndLost                // another PE was lost
	EndOnRequest           // its context ended: the launcher or the user wanted it
	EndStopped             // it has saved its state and left the job, as it was asked to: no failure
)

// StopStatus is the exit status of EndStopped: EX_TEMPFAIL of sysexits(3), by which a scheduler knows that the job is
// to be started again.
const StopStatus = 75

// LostHow in Header.FailedHow is not a wait status: other PEs have lost the PE, and its process may live.
const LostHow = 1 << 32

// GoneHow in Header.FailedHow is not a wait status either: in a job without agents, the connection of the PE's process
// has ended, or the PE has said that it ends.
const GoneHow = 1 << 35

// SignalEcho is how long after a signal that asks a process to end another one counts as the same request. A cluster's
// scheduler signals every process of a job, and launcher, agents and guards pass a signal on: a process gets several.
const SignalEcho = time.Second

// Clock returns a time that all processes of one host can compare, in nanoseconds.
func Clock() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 1
	}
	return t.Nano()
}

// EndsBy publishes why this PE ends. Only the first call has an effect. peer is the lost PE if why is EndLost.
func (j *Job) EndsBy(why EndReason, peer int) {
	end := &j.State().End
	if !end.At.CompareAndSwap(0, Clock()) {
		return
	}
	end.Peer.Store(int32(peer))
	end.Why.Store(uint32(why))
	if j.Member != nil && why != EndStopped {
		j.Member.Ending(why, peer)
	}
}

// Lost publishes that the loss of pe has been reported to this PE, which may end for that reason.
func (j *Job) Lost(pe int) { j.State().End.Lost.CompareAndSwap(0, int32(pe)+1) }

// RaceReported notes that this PE has reported a race: its agent makes RaceExit of a status 0. It returns the status
// that a process without an agent is to end with instead of 0.
func (j *Job) RaceReported() (status int) {
	switch status = j.Settings.RaceExit; status {
	case 0:
		status = DefaultRaceExit
	case NoRaceExit:
		status = 0
	}
	j.State().RaceExit.Store(uint32(status))
	return status
}

// FirstLost returns the PE whose loss was reported first to this PE, or else to another PE of its host: by. It reports
// false if no loss has been reported on this host.
func (j *Job) FirstLost() (pe, by int, ok bool) {
	first := j.Host().First
	if l := j.State().End.Lost.Load(); l != 0 {
		return int(l) - 1, j.PE, true
	}
	for i, st := range j.Segment.States {
		if l := st.End.Lost.Load(); l != 0 {
			return int(l) - 1, first + i, true
		}
	}
	return 0, 0, false
}

// EndRequested reports whether the launcher has asked the PEs of this host to end. The launcher reports the reason.
func (j *Job) EndRequested() bool { return j.Segment.Header.EndRequested.Load() != 0 }
