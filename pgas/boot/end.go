package boot

// Why a PE ends. A PE that fails takes others with it: they lose it, say so and exit, and the process of one of
// them may be gone before that of the PE that failed first. So a PE publishes in the host segment why and when
// it ends, as soon as it knows, and the first PE of which it was told that it is lost. Its agent passes that on, and
// the launcher names the cause instead of the process that it saw end first.

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// End is what a PE publishes about its own end.
type End struct {
	At   atomic.Int64  // Clock at which it knew; 0: it has published nothing
	Peer atomic.Int32  // the PE that it lost, of EndLost
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
)

// LostHow in Header.FailedHow is not a wait status: other PEs have lost the PE, and its process may live.
const LostHow = 1 << 32

// Clock returns a time that all processes of one host can compare, in nanoseconds.
func Clock() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 1
	}
	return t.Nano()
}

// EndsBy publishes why this PE ends; the first reason counts. peer is the PE that it lost, if that is why.
func (j *Job) EndsBy(why EndReason, peer int) {
	end := &j.state().End
	if !end.At.CompareAndSwap(0, Clock()) {
		return
	}
	end.Peer.Store(int32(peer))
	end.Why.Store(uint32(why))
}

// Lost publishes that the loss of pe has been reported to this PE. If it ends next, that may be why.
func (j *Job) Lost(pe int) { j.state().End.Lost.CompareAndSwap(0, int32(pe)+1) }

// EndRequested reports whether the launcher has asked the PEs of this host to end, for a reason that it reports itself.
func (j *Job) EndRequested() bool { return j.Segment.Header.EndRequested.Load() != 0 }
