package sim

// What has been sent between hosts.

import (
	"context"
	"errors"
)

// Traffic is what the hosts of a run have sent to each other, replies included.
type Traffic struct {
	Messages uint64
	Bytes    uint64 // of operands and replies, without headers
}

// Sent returns the traffic of the run since its beginning. It returns an error if ctx is not that of a simulated PE.
// Without costs (with an adversary, in Explore) nothing is counted.
func Sent(ctx context.Context) (Traffic, error) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p == nil {
		return Traffic{}, errors.New("sim.Sent: the context is not that of a simulated PE: pass the one that the body was called with")
	}
	return Traffic(p.s.net.Traffic()), nil
}
