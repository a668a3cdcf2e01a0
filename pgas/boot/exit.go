package boot

// A PE ends the whole job by a word of the host segment that its agent sleeps on. A process that is no
// child of the agent (there may be a wrapper in between) can say so all the same, and the launcher can
// stop the others before any of them sees a PE go.

import (
	"os"
	"time"
)

// exitTimeout is how long a PE that wants the job to end waits to be killed: an agent takes much less.
const exitTimeout = 10 * time.Second

const exitWanted = 1 << 31 // in Header.Exit, with the PE above the 8 bits of the status

// GlobalExit ends the job with status, from 0 to 255, and does not return. When several PEs want that,
// one of their statuses counts.
func (j *Job) GlobalExit(status int) {
	if j.Launched {
		word := &j.Segment.Header.Exit
		word.CompareAndSwap(0, exitWanted|uint32(j.PE)<<8|uint32(status))
		futexWake(word)
		time.Sleep(exitTimeout)
	}
	os.Exit(status)
}

// AwaitExit waits until a PE of this host wants the job to end, and returns which, and with which status.
func (s *Segment) AwaitExit() (pe, status int) {
	word := &s.Header.Exit
	for word.Load() == 0 {
		sleepWhile(word, 0)
	}
	x := word.Load()
	return int(x &^ exitWanted >> 8), int(x & 0xff)
}
