package transport

import "context"

// Drainer is implemented by transports that lose what is on its way to other PEs when they close. A PE that leaves the
// job together with the others drains such a transport after it has closed its own channels: other PEs may still wait
// for the answers to their last operations on it.
type Drainer interface {
	// Leave says that all PEs leave: this PE closes its channels next.
	Leave()
	// Drain closes the channels of this PE that are left, and blocks until no channel of another PE leads to this one,
	// a PE of the job is lost, or ctx ends.
	Drain(ctx context.Context)
}
