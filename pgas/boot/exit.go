package boot

// A PE ends the whole job by a word of the host segment that its agent sleeps on. That works for a process that
// is no child of the agent, too (a wrapper may be in between), and the launcher can stop the other PEs before any of
// them loses this one.

import (
	"os"
	"time"
)

// exitTimeout is how long a PE that has asked for the end of the job waits to be killed. An agent takes much less.
const ExitTimeout = 10 * time.Second

const exitWanted = 1 << 31 // in Header.Exit, with the PE above the 8 bits of the status

// GlobalExit ends the job with status, from 0 to 255, and does not return. If several PEs call it, the job ends with
// the status of one of them.
func (j *Job) GlobalExit(status int) {
	switch {
	case j.Member != nil:
		j.Member.GlobalExit(status)
	case j.Launched:
		word := &j.Segment.Header.Exit
		word.CompareAndSwap(0, exitWanted|uint32(j.PE)<<8|uint32(status))
		futexWake(word)
		time.Sleep(ExitTimeout)
	}
	os.Exit(status)
}

// EndWatches ends AwaitExit and AwaitAccusation when all PEs of this host have ended. What they return then means
// nothing.
func (s *Segment) EndWatches() {
	h := s.Header
	h.Exit.CompareAndSwap(0, exitWanted)
	futexWake(&h.Exit)
	h.Accused.Store(^uint64(0))
	h.AccusedBell.Add(1)
	futexWake(&h.AccusedBell)
}

// AwaitExit blocks until a PE of this host has called GlobalExit, and returns the PE and the status.
func (s *Segment) AwaitExit() (pe, status int) {
	word := &s.Header.Exit
	for word.Load() == 0 {
		sleepWhile(word, 0)
	}
	x := word.Load()
	return int(x &^ exitWanted >> 8), int(x & 0xff)
}
