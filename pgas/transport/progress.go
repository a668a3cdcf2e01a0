package transport

import (
	"context"
	"time"
)

// Progresser is implemented by transports on which updates arrive only if the target makes progress, and over which a
// PE can be out of reach. A blocked PE drives such a transport itself instead of spinning beside its service thread,
// and asks it for faults at intervals.
type Progresser interface {
	// WaitWord makes progress until the local word compares true with value, or about d has passed.
	// It reports whether the word compares true. signed says how to compare.
	WaitWord(word Word, cmp Cmp, value uint64, signed bool, d time.Duration) bool
	// WaitDoorbell makes progress until something has arrived, the PE's doorbell (boot.State.Doorbell) is no longer
	// seen, or about d has passed. A wait for any of many words uses it.
	WaitDoorbell(seen uint32, d time.Duration)
	// Fault returns a *PeerError if the transport has found a PE unreachable or silent, or nil. Which PE it names may
	// be decided elsewhere: Fault waits for that, but not beyond the end of ctx. If ctx ends first, decided is false,
	// and the error names the PE that this one has lost, which may not be the one to blame.
	Fault(ctx context.Context) (lost error, decided bool)
}
