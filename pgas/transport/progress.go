package transport

import "time"

// Progresser is implemented by transports on which updates arrive only if the target makes progress, and over which a
// PE can be out of reach. A blocked PE drives such a transport itself instead of spinning beside its service thread,
// and asks it for faults at intervals.
type Progresser interface {
	// WaitWord makes progress until the local word compares true with value, or about d has passed.
	// It reports whether the word compares true. signed says how to compare.
	WaitWord(word Word, cmp Cmp, value uint64, signed bool, d time.Duration) bool
	// WaitDoorbell makes progress until something has arrived, the PE's doorbell (boot.State.Doorbell) is no longer seen, or
	// about d has passed. A wait for any of many words uses it.
	WaitDoorbell(seen uint32, d time.Duration)
	// Fault returns the first PE that the transport has found unreachable or silent, as *PeerError, or nil.
	Fault() error
}
