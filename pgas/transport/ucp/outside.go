//go:build cgo

package ucp

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

// Outside opens a way to the heaps of pes for one thread that is not Go's. It fails as Channel does, and if the address
// of a PE cannot be had.
func (t *Transport) Outside(pes []int) (way uintptr, close func() error, err error) {
	state := t.job.Segment.States[t.job.PE-int(t.job.Segment.Header.First)]
	blocked := engine.Blocked{Op: &state.Blocked.Op, Code: uint32(boot.InPageFault)}
	o, err := t.engine.Outside(pes, t.address, blocked)
	if err != nil {
		return 0, nil, fmt.Errorf("opening a channel of the UCX transport for a thread that is not Go's: %w", err)
	}
	return o.Address(), o.Close, nil
}

var _ transport.Outsider = (*Transport)(nil)
