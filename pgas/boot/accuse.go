package boot

// A PE that finds another silent says so in a word of the host segment that its agent sleeps on. The service thread
// of ucx/engine does that, in C: it needs no Go. The launcher tells the PEs of all hosts, because it alone hears both
// ends of a link that has failed.

import "fmt"

// Accusation says that a PE does not answer another.
type Accusation struct {
	PE      int
	By      int
	Certain bool // others answer By, so that the fault is not its own
	Silent  bool // for PGAS_PEER_TIMEOUT; otherwise By has lost its connection
}

// The word, as ucx/engine/engine.h has it.
const (
	accusedMask      = 1<<20 - 1
	accuserShift     = 20
	accusedCertainly = 1 << 62
	accusedSilent    = 1 << 61
)

// AwaitAccusation waits for an accusation by a PE of this host that is not the seen one, 0 for none, and returns it,
// and what it is to be called with the next time.
func (s *Segment) AwaitAccusation(seen uint64) (Accusation, uint64) {
	h := s.Header
	for {
		bell := h.AccusedBell.Load()
		if x := h.Accused.Load(); x != seen {
			return Accusation{PE: int(x & accusedMask), By: int(x >> accuserShift & accusedMask), Certain: x&accusedCertainly != 0, Silent: x&accusedSilent != 0}, x
		}
		sleepWhile(&h.AccusedBell, bell)
	}
}

// accused marks what Header.FailedHow holds of a PE that others have given up: no wait status has so many bits. The
// accuser is below.
const (
	accused = 1 << 33 // LostHow is the bit below
	silent  = 1 << 34
)

// How is what Header.FailedHow holds of a PE that is accused.
func (a Accusation) How() uint64 {
	if a.Silent {
		return accused | silent | uint64(a.By)
	}
	return accused | uint64(a.By)
}

func (a Accusation) Error() string {
	if a.Silent {
		return fmt.Sprintf("it does not answer PE %d: it is stopped, or its host or the network between is down; a longer PGAS_PEER_TIMEOUT waits longer", a.By)
	}
	return fmt.Sprintf("PE %d has lost its connection to it: its host or the network between is down, or has reset it", a.By)
}
