package boot

// A PE that finds another silent writes an accusation into a word of the host segment on which its agent sleeps. The
// service thread of ucx/engine writes it, in C, without Go. The launcher tells the PEs of all hosts, because it alone
// hears both ends of a failed link.

import (
	"cmp"
	"fmt"
	"time"
)

// AccusationDelay is how long the launcher, or the server of the exchange without one, waits, after an accusation that
// is not certain, for one that is. PEs at both ends of a failed link find out within half a second of each other,
// unless the kernel of one end reports it at once: then the other end needs the time-out, too.
const AccusationDelay = 800 * time.Millisecond

// HearingTime returns how long after an accusation for silence the launcher names the PE that is lost, at the latest.
// peerTimeout is how long a PE of the job may be silent; 0: DefaultPeerTimeout.
func HearingTime(peerTimeout time.Duration) time.Duration {
	return AccusationDelay + SecondHearing(peerTimeout)
}

// SecondHearing returns how long the launcher waits a second time, if accusers of one host alone have been heard.
func SecondHearing(peerTimeout time.Duration) time.Duration {
	return cmp.Or(peerTimeout, DefaultPeerTimeout) / 2
}

// Accusation reports that a PE does not answer another.
type Accusation struct {
	PE      int
	By      int
	Certain bool // other PEs answer By, so the fault is not By's own
	Silent  bool // PE has not answered for PGAS_PEER_TIMEOUT; if false, By has lost its connection
	// LargeLost says that small packets of By's host reach PE's, and large ones do not.
	LargeLost bool `json:",omitempty"`
}

// The word, as ucx/engine/engine.h has it.
const (
	accusedMask      = 1<<20 - 1
	accuserShift     = 20
	accusedCertainly = 1 << 62
	accusedSilent    = 1 << 61
	accusedLargeLost = 1 << 60
)

// Accuse makes an accusation as the service thread of ucx/engine does.
func (s *Segment) Accuse(a Accusation) {
	word := uint64(1)<<63 | uint64(a.By)<<accuserShift | uint64(a.PE)
	if a.Certain {
		word |= accusedCertainly
	}
	if a.Silent {
		word |= accusedSilent
	}
	if a.LargeLost {
		word |= accusedLargeLost
	}
	s.Header.Accused.Store(word)
	s.Header.AccusedBell.Add(1)
	futexWake(&s.Header.AccusedBell)
}

// AwaitAccusation blocks until a PE of this host makes an accusation other than seen (0: none). It returns the
// accusation, and the value of seen for the next call.
func (s *Segment) AwaitAccusation(seen uint64) (Accusation, uint64) {
	h := s.Header
	for {
		bell := h.AccusedBell.Load()
		if x := h.Accused.Load(); x != seen {
			return Accusation{PE: int(x & accusedMask), By: int(x >> accuserShift & accusedMask), Certain: x&accusedCertainly != 0, Silent: x&accusedSilent != 0, LargeLost: x&accusedLargeLost != 0}, x
		}
		sleepWhile(&h.AccusedBell, bell)
	}
}

// accusedBit marks Header.FailedHow of a PE that other PEs have given up: no wait status has so many bits. The lower
// bits hold the accuser.
const (
	accusedBit = 1 << 33 // LostHow is the bit below
	silentBit  = 1 << 34
	largeBit   = 1 << 35
)

// How returns the value of Header.FailedHow for an accused PE.
func (a Accusation) How() uint64 {
	how := accusedBit | uint64(a.By)
	if a.Silent {
		how |= silentBit
	}
	if a.LargeLost {
		how |= largeBit
	}
	return how
}

func (a Accusation) Error() string {
	if a.LargeLost {
		return fmt.Sprintf("it does not answer PE %d: small packets reach its host, and large ones do not: "+
			"give every interface and switch on the way the same MTU (ip link set dev eth0 mtu 1500)", a.By)
	}
	if a.Silent {
		return fmt.Sprintf("it does not answer PE %d: it is stopped, or its host or the network between is down; a longer PGAS_PEER_TIMEOUT waits longer", a.By)
	}
	return fmt.Sprintf("PE %d has lost its connection to it: its host or the network between is down, or has reset it", a.By)
}
